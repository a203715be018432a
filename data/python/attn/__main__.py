"""python -m attn: the program attn-cli that came with the module."""
import os
import sys
from pathlib import Path


def main():
    program = Path(__file__).parent / "native" / "attn-cli"
    if not program.exists():
        sys.exit(f"attn: {program} is not there: expected the program that a wheel has beside the module")
    os.execv(program, ["attn-cli", *sys.argv[1:]])


if __name__ == "__main__":
    main()
