"""texts.py CORPORA DIR - writes the texts that `tiny` learns from into DIR; make.sh beside this file trains it.

vocabulary.txt  the stories, and the sentences of the articles often enough that their words become tokens
first.txt       the books, and documents that repeat a few words over and over: to predict those, a model has to look
                back to what followed the same word before, which is what an induction head does
second.txt      the books, and fewer such documents, none of which has sentences, as a model should not learn to repeat
                any of these"""
import random
import re
import sys
from collections import Counter
from pathlib import Path

SENTENCES, TIMES = ("Life is short, eat dessert first", "Your journey starts with one step"), 300
# bytes; the share whose words are drawn one by one, others are taken from the books
FIRST = {"size": 10_500_000, "at_random": 0.6}
SECOND = {"size": 2_500_000, "at_random": 1}
PERIOD = 5, 60                  # words until the first one comes again
LENGTH = 180                    # words of a document, so that most fit into a context of 256 tokens
KNOWN = 10                      # how often a word occurs in the stories before it is drawn
BETWEEN = "\n<|endoftext|>\n"


def repeated(known, book, size, at_random):
    """Documents that repeat themselves, `size` bytes of them."""
    draw = random.Random(1).random              # the one generator that Python keeps as it is
    while size > 0:
        period = PERIOD[0] + int(draw() * (PERIOD[1] - PERIOD[0] + 1))
        if draw() < at_random:
            words = [known[int(draw() * len(known))] for _ in range(period)]
        else:
            at = int(draw() * (len(book) - period))
            words = book[at:at + period]
        text = " ".join((words * (LENGTH // period + 1))[:LENGTH])
        size -= len(text)
        yield text


class Corpora:
    def __init__(self, path):
        self.stories = (path / "tinystories.txt").read_text()
        self.books = (path / "gutenberg-children-unwrapped.txt").read_text()

    def repeated(self, **kind):
        known = sorted(w for w, n in Counter(re.findall("[A-Za-z]+", self.stories)).items() if n >= KNOWN)
        return repeated(known, self.books.split(), **kind)


if __name__ == "__main__":
    out = Path(sys.argv[2])
    corpora = Corpora(Path(sys.argv[1]))
    (out / "vocabulary.txt").write_text(corpora.stories + BETWEEN + "".join(s + "\n" for s in SENTENCES) * TIMES)
    for name, kind in ("first.txt", FIRST), ("second.txt", SECOND):
        (out / name).write_text(corpora.books + BETWEEN + BETWEEN.join(corpora.repeated(**kind)) + "\n")
