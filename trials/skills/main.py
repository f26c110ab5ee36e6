"""Judges skills by the official validator and by ours: on each case of cases.json both say the same, or differ as it says.

Further words are folders; every skill below them is judged by both too."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from skills_ref.validator import validate

HERE = Path(__file__).parent
CONSOLE = HERE.parent.parent / "target" / "debug" / "console"


def ours(folder):
    """Whether our check finds the skill right in form, and why not."""
    done = subprocess.run([CONSOLE, "skills", "check", folder, "--json"], capture_output=True, text=True, cwd=HERE)
    [skill] = json.loads(done.stdout)["skills"]
    return skill["valid"], [found["said"] for found in skill["findings"] if found["grade"] == "wrong"]


def theirs(folder):
    """The same of the official validator; a text on which it falls counts as wrong."""
    try:
        wrong = validate(folder)
    except Exception as error:
        wrong = [repr(error)]
    return not wrong, wrong


def judged(about, folder, differs):
    (our, our_reasons), (their, their_reasons) = ours(folder), theirs(folder)
    if (our != their) == differs:
        return True
    print(f"{about}: we say {our} {our_reasons}, they say {their} {their_reasons}")
    return False


def main(folders):
    good = []
    with tempfile.TemporaryDirectory() as place:
        for number, case in enumerate(json.loads((HERE / "cases.json").read_text(encoding="utf-8"))["case"]):
            folder = Path(place) / str(number) / case.get("folder", "a")
            folder.mkdir(parents=True)
            (folder / case.get("file", "SKILL.md")).write_bytes(case["text"].encode())
            good.append(judged(case["about"], folder, "differs" in case) and ours(folder)[0] == case["valid"])
    cases = len(good)
    for place in folders:
        for file in sorted(Path(place).resolve().rglob("SKILL.md")):
            good.append(judged(str(file), file.parent, False))
    print(f"trials skills: {sum(good)} of {len(good)} verdicts as they should be, {cases} cases and {len(good) - cases} skills of others")
    return 0 if all(good) else 1


sys.exit(main(sys.argv[1:]))
