# What a terminal shows, as HTML: the colours that attn-cli uses.
s/\r//g
s/&/\&amp;/g
s/</\&lt;/g
s/\x1b\[48;2;\([0-9]*\);\([0-9]*\);\([0-9]*\)m\x1b\[38;5;16m/<\/span><span style="background:rgb(\1,\2,\3);color:#000">/g
s/\x1b\[48;2;\([0-9]*\);\([0-9]*\);\([0-9]*\)m\x1b\[38;5;231m/<\/span><span style="background:rgb(\1,\2,\3);color:#fff">/g
s/\x1b\[48;2;\([0-9]*\);\([0-9]*\);\([0-9]*\)m/<\/span><span style="background:rgb(\1,\2,\3)">/g
s/\x1b\[1m/<\/span><span style="font-weight:bold">/g
s/\x1b\[2m/<\/span><span style="opacity:.7">/g
s/\x1b\[0m/<\/span><span>/g
s/\x1b\[[0-9;?]*[a-zA-Z]//g
s/^/<span>/
s/$/<\/span>/
