"""Runs a command of the load generator inside srt's sandbox, whose proxy wants the login
that stands in the sandbox's environment. usage: inside_srt.py LOAD [OPTION]... TARGET
"""

import base64
import os
import sys
import urllib.parse

url = urllib.parse.urlsplit(os.environ["HTTPS_PROXY"])
login = urllib.parse.unquote(f"{url.username}:{url.password}").encode()
program, *options = sys.argv[1:]
words = ["--authorization", "Basic " + base64.b64encode(login).decode()] if url.username else []
os.execv(program, [program, *words, *options])
