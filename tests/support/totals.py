"""Adds up ctest's results. usage: totals.py JUNIT.xml...

Prints the reason of every skip, the names of what failed, and one closing line.
"""

import re
import sys
import xml.etree.ElementTree as xml

SKIP_LINE = re.compile(r"^(?:SKIPPED .*|skipped: .*)$", re.M)


def main(paths):
    counts = {"run": 0, "fail": 0, "notrun": 0}
    reasons, failures = set(), []
    for path in paths:
        for case in xml.parse(path).getroot().iter("testcase"):
            status = case.get("status")
            counts[status if status in counts else "fail"] += 1
            if status == "fail":
                failures.append(f"{path.rsplit('/', 1)[-1][:-4]}: {case.get('name')}")
            output = case.findtext("system-out") or ""
            reasons.update(f"{case.get('name')}: {line}" for line in SKIP_LINE.findall(output))
    for reason in sorted(reasons):
        print(reason)
    for failure in failures:
        print(f"FAILED {failure}")
    print(f"{counts['run']} passed, {counts['fail']} failed, {counts['notrun']} skipped")
    sys.exit(0 if counts["run"] and not counts["fail"] else 1)


main(sys.argv[1:])
