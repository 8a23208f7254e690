#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What Jinja makes of chat templates, set up as transformers sets it up: goldens for runtime/text/template.

    make_templates.py                                     writes test/runtime/text/template/goldens.json
    make_templates.py --compare FOLDER --renderer PROGRAM
        renders each FOLDER/*.jinja over the conversations with both and prints where they differ

PROGRAM is build/bin/render_template. Needs jinja2 only.
"""
import argparse
import datetime
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import jinja2
import jinja2.ext
import jinja2.sandbox
from template_cases import CONVERSATIONS, EXPRESSIONS, PIECES, VARIABLES

HERE = pathlib.Path(__file__).resolve().parent
GOLDENS = HERE.parent.parent / "test/runtime/text/template/goldens.json"
NOW = 1790000000  # 2026-09-21, in UTC
SPECIALS = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}


class Generation(jinja2.ext.Extension):
    """{% generation %}: its body, in a scope of its own."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("_body"), [], [], body).set_lineno(line)

    def _body(self, caller):
        return caller()


def _raise(message):
    raise jinja2.TemplateError(message)


def _to_json(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def _environment():
    environment = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols]
    )
    environment.filters["tojson"] = _to_json
    environment.globals["raise_exception"] = _raise
    environment.globals["strftime_now"] = lambda form: datetime.datetime.fromtimestamp(
        NOW, datetime.timezone.utc
    ).strftime(form)
    return environment


ENVIRONMENT = _environment()


def render(template, variables):
    """The rendering, or None if Jinja refuses."""
    try:
        return ENVIRONMENT.from_string(template).render(**variables)
    except Exception:  # what a template can raise is whatever Python's operators raise
        return None


def conversation_variables(conversation, prompts):
    return {**SPECIALS, "tools": None, "documents": None, **conversation, "add_generation_prompt": prompts}


def make():
    cases = []
    for path in sorted((HERE / "templates").glob("*.jinja")):
        template = path.read_text(encoding="utf-8")
        for name, conversation in CONVERSATIONS.items():
            for prompts in (False, True):
                variables = conversation_variables(conversation, prompts)
                cases.append({"template": path.name, "conversation": name, "prompts": prompts,
                              "text": render(template, variables)})
    pieces = []
    for piece in PIECES + ["{{ " + expression + " }}" for expression in EXPRESSIONS]:
        pieces.append([piece, render(piece, VARIABLES)])
    golden = {
        "made_by": f"tools/goldens/make_templates.py, jinja2 {jinja2.__version__}, Python {sys.version.split()[0]}",
        "now": NOW,
        "specials": SPECIALS,
        "conversations": CONVERSATIONS,
        "templates": cases,
        "variables": VARIABLES,
        "pieces": pieces,
    }
    GOLDENS.parent.mkdir(parents=True, exist_ok=True)
    GOLDENS.write_text(json.dumps(golden, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")
    print(f"{GOLDENS}: {len(cases)} renderings of templates, {len(pieces)} pieces")


def compare(folder, renderer):
    same = refused = different = 0
    with tempfile.TemporaryDirectory() as scratch:
        variables_file = os.path.join(scratch, "variables.json")
        for path in sorted(pathlib.Path(folder).glob("*.jinja")):
            template = path.read_text(encoding="utf-8")
            for name, conversation in CONVERSATIONS.items():
                for prompts in (False, True):
                    variables = json.loads(json.dumps(conversation_variables(conversation, prompts)))
                    pathlib.Path(variables_file).write_text(json.dumps(variables), encoding="utf-8")
                    run = subprocess.run([renderer, path, variables_file, str(NOW)], capture_output=True,
                                         env={**os.environ, "TZ": "UTC"}, check=False)
                    ours = run.stdout.decode("utf-8") if run.returncode == 0 else None
                    theirs = render(template, variables)
                    same += ours == theirs and ours is not None
                    refused += ours is None and theirs is None
                    if ours != theirs:
                        different += 1
                        print(f"{path.name}: {name}: {theirs!r:.300}\n  {ours!r:.300} {run.stderr.decode():.300}")
    print(f"{same} the same, {refused} refused by both, {different} different")
    return different


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compare", metavar="FOLDER")
    parser.add_argument("--renderer", metavar="PROGRAM", default="build/bin/render_template")
    arguments = parser.parse_args()
    if arguments.compare:
        sys.exit(1 if compare(arguments.compare, arguments.renderer) else 0)
    make()


if __name__ == "__main__":
    main()
