# links.awk - a document as it is installed: links to what is not installed beside it become plain words.
#
# awk -v at=cmd/README.md -v there="README.md cmd/README.md ..." -f links.awk cmd/README.md; paths count from the top folder.
BEGIN { n = split(there, list, " "); for (i = 1; i <= n; i++) known[list[i]] = 1; folder = at; sub(/[^\/]*$/, "", folder) }

# "cmd/../data/gallery/" as "data/gallery".
function plain(path)
{
    while (sub(/[^\/]+\/\.\.\//, "", path)) ;
    sub(/\/$/, "", path)
    return path
}

function stays(target)
{
    if (target ~ /^#/ || target ~ /:\/\//) return 1
    sub(/#.*/, "", target)
    return plain(folder target) in known
}

{
    line = $0; said = ""
    while (match(line, /\[[^]]*\]\([^)]*\)/)) {
        link = substr(line, RSTART, RLENGTH); middle = index(link, "](")
        if (!stays(substr(link, middle + 2, length(link) - middle - 2))) link = substr(link, 2, middle - 2)
        said = said substr(line, 1, RSTART - 1) link; line = substr(line, RSTART + RLENGTH)
    }
    print said line
}
