"""circles.py CORPORA DIR MODEL ROUND - lets MODEL go on from the beginnings of stories, and writes into DIR what it is
to read next:

circles-ROUND.txt  those of its likeliest texts that go round in circles, and those of the rounds before: for --against
third-ROUND.txt    texts it drew at random that do not, and come to an end; parts of the books; and random words that
                   repeat, so that heads which look back go on doing so: for --also"""
import json
import os
import random
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from texts import BETWEEN, Corpora

LIKELIEST, DRAWN = (9000, 110), (6000, 225)     # texts, and tokens that are added at most to their beginnings
BEGINS = 2, 26                          # words of a beginning
CIRCLE = 5                              # words that come again
TEMPERATURE = "0.5"
REPEATED, BOOKS = 1_200_000, 2_000_000  # bytes


def written(model, stories, kind, seed, *how):
    """(text, whether it came to its end) of what the model writes after beginnings of stories, in as many processes as
    there are processors."""
    draw, begins = random.Random(seed).random, []
    n, length = kind
    for _ in range(n):
        words = stories[int(draw() * len(stories))].split(" ")
        begins.append(" ".join(words[:BEGINS[0] + int(draw() * (BEGINS[1] - BEGINS[0] + 1))]))

    def go(number):
        line = [os.environ.get("ATTN_CLI", "attn-cli"), "generate", "-q", "-t", "1", "-m", model, "-f", "-", "-n",
                str(length), *how,
                "--seed", str(number), "--format", "json"]
        said = json.loads(subprocess.run(line, input=begins[number], capture_output=True, text=True, check=True).stdout)
        return begins[number] + said["text"], said["stop"] == "eos"

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(go, range(n)))


def goes_round(text):
    words = text.split()
    return max(Counter(tuple(words[i:i + CIRCLE]) for i in range(len(words))).values()) > 1


out, model, number = Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])
corpora = Corpora(Path(sys.argv[1]))
stories = [s.strip() for s in corpora.stories.split(BETWEEN)]
stories = stories[:len(stories) * 94 // 100]                    # none of those held out
circles = [t for t, _ in written(model, stories, LIKELIEST, number, "--temperature", "0") if goes_round(t)]
drawn = [t for t, ended in written(model, stories, DRAWN, 1000 + number, "--temperature", TEMPERATURE) if ended and
         not goes_round(t)]
draw = random.Random(number).random
books = [corpora.books[at:at + BOOKS // 10]
         for at in (int(draw() * (len(corpora.books) - BOOKS // 10)) for _ in range(10))]
before = out / f"circles-{number - 1}.txt"
(out / f"circles-{number}.txt").write_text((before.read_text() if before.exists() else "") +
                                           "".join(t + BETWEEN for t in circles))
also = [*drawn, *books, *corpora.repeated(size=REPEATED, at_random=1)]
(out / f"third-{number}.txt").write_text(BETWEEN.join(also) + "\n")
print(f"of {LIKELIEST[0]} likeliest texts {len(circles)} go round in circles; "
      f"of {DRAWN[0]} drawn ones {len(drawn)} come to an end and do not")
