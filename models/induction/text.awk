# text.awk - 24,000 texts in which some phrases are said again: awk -f text.awk >text.txt
#
# A text has 62 words and consists of phrases.  The next phrase is a new one, or, two times in three, one of those that were
# said before.  All words of new phrases differ, and any order is as likely as any other: nothing but an earlier occurrence
# tells the next word.  Phrases have any length from 2 to a limit which varies from text to text, so that positions tell nothing.
BEGIN {
    words = split("ant ape apple arm bag ball bear bed bee bell bird boat book box bread bus cake cap car cat chair clock cloud " \
        "coat cow cup desk dog door duck egg eye fan farm fish fork fox frog goat hand hat hen horse jam key king lamp leaf lion " \
        "map milk moon mouse nest pig queen rain ring ship shoe star sun tree wolf", word, " ")
    seed = 1
    for (text = 0; text < 24000; text++) {
        shuffle()
        write(62, 2 + draw(30))
        print "\n<|endoftext|>"
    }
}

function shuffle(   i, j, w)
{
    for (i = 1; i <= words; i++) {
        j = i + draw(words + 1 - i)
        w = word[i]; word[i] = word[j]; word[j] = w
    }
}

# Phrase p has size[p] words, of which word[first[p] + 1] is the first.
function write(long, longest,   phrases, used, p, i, said)
{
    while (said < long) {
        if (phrases && draw(3))
            p = draw(phrases)
        else {
            p = phrases++
            first[p] = used
            size[p] = 2 + draw(longest - 1)
            if (size[p] > words - used)
                size[p] = words - used
            used += size[p]
        }
        for (i = 1; i <= size[p] && said < long; i++)
            printf "%s%s", said++ ? " " : "", word[first[p] + i]
    }
}

# A whole number from 0 to below - 1.  Park and Miller's generator, whose products are exact in double precision.
function draw(below)
{
    seed = seed * 16807 % 2147483647
    return int(seed / 2147483647 * below)
}
