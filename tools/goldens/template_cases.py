# SPDX-License-Identifier: Apache-2.0
"""What make_templates.py renders: conversations for whole templates, and small pieces of the language.

A piece that is an expression alone is written between "{{ " and " }}"; one with braces of its own is a
template. Each piece sees VARIABLES.
"""

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": 'Weather of a "city"\nnow <é>',
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string"},
                "unit": {"type": "string", "enum": ["C", "F"], "default": "C"},
                "days": {"type": "array", "items": {"type": "integer"}},
            },
            "required": ["city"],
        },
    },
}


def _call(arguments):
    return {"id": "abcdefghi", "type": "function", "function": {"name": "get_weather", "arguments": arguments}}


CONVERSATIONS = {
    "empty": {"messages": []},
    "one": {"messages": [{"role": "user", "content": "Hi é 漢 🙂"}]},
    "turns": {
        "messages": [
            {"role": "system", "content": "  Be brief.\n"},
            {"role": "user", "content": ' What is "1+1"? \n'},
            {"role": "assistant", "content": "<think>\nhm\n</think>\n\n2"},
            {"role": "user", "content": "And <2>?"},
        ]
    },
    "tools": {
        "messages": [
            {"role": "system", "content": "S"},
            {"role": "user", "content": "weather in Paris?"},
            {"role": "assistant", "content": "", "tool_calls": [_call({"city": "Paris", "days": [1, 2.5, None, True]})]},
            {"role": "tool", "tool_call_id": "abcdefghi", "content": '{"t": 21}'},
            {"role": "tool", "tool_call_id": "abcdefghi", "content": "sun"},
            {"role": "assistant", "content": "21 degrees"},
            {"role": "user", "content": "thanks"},
        ],
        "tools": [WEATHER],
    },
    "text arguments": {
        "messages": [
            {"role": "user", "content": "weather?"},
            {"role": "assistant", "content": None, "tool_calls": [_call('{"city": "Rome"}')]},
        ],
        "tools": [WEATHER],
    },
    "parts": {"messages": [{"role": "user", "content": [{"type": "text", "text": " look "}, {"type": "image"}]}]},
    "same role twice": {"messages": [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]},
    "thoughts": {
        "messages": [
            {"role": "user", "content": "a"},
            {"role": "assistant", "content": "b", "reasoning_content": "\nbecause\n"},
            {"role": "user", "content": "c"},
            {"role": "assistant", "content": "d", "reasoning_content": "since"},
        ],
        "enable_thinking": False,
    },
}

VARIABLES = {
    "n": None,
    "yes": True,
    "no": False,
    "i": 7,
    "f": 2.5,
    "s": "Hello, wörld",
    "blank": "  two  words \n",
    "html": "<a href=\"x\">it's</a> & more",
    "odd": "tab\tquote\"'\\ é漢🙂\u00ad\u200b\x07\x1f\x7f",
    "lines": "one\ntwo\r\nthree\n\nfive",
    "xs": [3, 1, 2, 1],
    "words": ["pear", "Apple", "fig", "apple"],
    "d": {"b": 1, "a": [1, 2], "items": "key", "c d": None, "e": {"f": "g"}},
    "rows": [
        {"name": "x", "group": "B", "size": 3, "tags": ["p"]},
        {"name": "y", "group": "a", "size": 1},
        {"name": "z", "group": "b", "size": 2, "tags": []},
    ],
    "nested": [[1, [2, 3]], {"k": [True, None, 1.5]}],
    "empty": [],
    "big": 9007199254740993,
    "messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "r"}],
}

EXPRESSIONS = """
1 + 2 * 3 - 4 / 2
7 // 2
-7 // 2
7 % 3
-7 % 3
7 % -3
-7.5 % 2
7.5 // 2
2 ** 10
2 ** -1
2 ** 0.5
-2 ** 2
2 ** 3 ** 2
(1, 2) + (3,)
[1] + [2, 3]
"ab" * 3
3 * [0]
"ab" * -1
1 / 4
1 / 3
10 / 5
1e3
1.5e-7
1e16
123456789012345678
1e22
0.1 + 0.2
1_000
0x1f
0b101
0o17
9223372036854775807
true + 1
True
none
not i
not not i
i > 3 and s
no or "else"
no and missing
1 < 2 < 3
1 < 3 < 2
1 == 1.0
true == 1
"1" == 1
[1, 2] == (1, 2)
[1, [2]] == [1, [2.0]]
d == d
none == none
missing == none
missing == other
"a" < "b"
"é" > "z"
[1, 2] < [1, 3]
(1, 2) <= (1, 2)
1 in xs
4 not in xs
"wör" in s
"a" in d
"zz" not in d
1 in missing
none in [none]
"x" ~ 1 ~ 2.0 ~ none ~ true ~ missing ~ [1]
"a" "b" 'c'
1 + 2 ~ 3
i if i > 3 else 0
i if i > 30
"a" if no else "b" if no else "c"
xs[0]
xs[-1]
xs[9]
xs[1:]
xs[:-1]
xs[::-1]
xs[::2]
xs[3:0:-1]
xs[-100:100]
xs[2:1]
s[1]
s[-1]
s[7:]
s[:5]
s[::-1]
s[1:9:3]
s[7]
d.b
d["b"]
d.items is callable
d["items"]
d["c d"]
d.e.f
d.missing
d["missing"]
d.get("b")
d.get("zz")
d.get("zz", 5)
d.keys() | list
d.values() | list
d.items() | list
d.e.items() | list
rows[0].name
rows.0.name
xs.0
s.upper()
s.lower()
s.title()
"it's a dog's life".title()
s.capitalize()
blank.strip()
blank.lstrip()
blank.rstrip()
"xxaxx".strip("x")
"xyaxy".strip("yx")
"ééaé".lstrip("é")
blank.split()
blank.split(none, 1)
"a b  c ".split(none, 1)
" a b c ".rsplit(none, 1)
"a,b,,c".split(",")
"a,b,,c".split(",", 1)
"a,b,,c".rsplit(",", 1)
"a<think>b</think>c".split("</think>")[-1]
"".split(",")
"".split()
"aaaa".split("aa")
lines.splitlines()
lines.splitlines(true)
s.startswith("Hell")
s.startswith(("x", "H"))
s.endswith("d")
s.startswith("e", 1)
s.find("w")
s.find("zz")
s.rfind("l")
"aXbXc".rfind("X")
s.index("l")
s.count("l")
"aaa".count("")
s.replace("l", "L")
s.replace("l", "L", 2)
"abc".replace("", "-")
"é".replace("", "-")
", ".join(["a", "b"])
"".join(words)
"12".isdigit()
"1a".isdigit()
"".isdigit()
"²".isnumeric()
"ab".isalpha()
"aé1".isalnum()
" \\t".isspace()
"AB1".isupper()
"ab1".islower()
"abc".removeprefix("a")
"abc".removesuffix("c")
"a=b=c".partition("=")
"a=b=c".rpartition("=")
"abc".partition("x")
"7".zfill(3)
"-7".zfill(4)
"ab".ljust(4, ".")
"ab".rjust(4)
"{} of {}".format(1, "x")
"{1}-{0}-{name}".format(1, 2, name=s)
"{{}} {:.2f} {!r}".format(3.14159, "q")
"%s and %d" % ("a", 3)
"%s" % s
"%.3f%%" % 2.5
"%r" % "x"
"ß straße".upper()
"ÉCOLE".lower()
s | upper
s | lower
s | title
"foo-bar (baz) [qux] it's" | title
s | capitalize
blank | trim
"xxaxx" | trim("x")
s | length
xs | length
d | length
odd | length
s | count
s | first
s | last
xs | first
xs | last
empty | first
empty | last
d | first
xs | sum
rows | sum(attribute="size")
rows | sum("size", 10)
xs | min
xs | max
words | max
empty | max
rows | map(attribute="size") | max
xs | sort
xs | sort(reverse=true)
words | sort
words | sort(case_sensitive=true)
rows | sort(attribute="size") | map(attribute="name") | join
rows | sort(attribute="group,size") | map(attribute="name") | list
xs | unique | list
words | unique | list
xs | reverse | list
s | reverse
s | list
d | list
words | join(", ")
xs | join
xs | join("-") | upper
rows | join(", ", attribute="name")
rows | map(attribute="name") | list
rows | map(attribute="tags", default="none") | list
rows | map(attribute="tags.0", default="-") | list
words | map("upper") | list
words | map("replace", "p", "P") | list
rows | selectattr("tags") | map(attribute="name") | list
rows | selectattr("tags", "defined") | map(attribute="name") | list
rows | selectattr("size", "gt", 1) | map(attribute="name") | list
rows | selectattr("group", "equalto", "B") | list | length
rows | rejectattr("size", "equalto", 1) | map(attribute="name") | list
rows | selectattr("name", "in", ["x", "z"]) | map(attribute="name") | list
xs | select("odd") | list
xs | select("==", 1) | list
xs | reject("even") | list
[0, 1, "", "a", none] | select | list
n | select | list
missing | map("upper") | list
rows | groupby("group") | list
rows | groupby("tags", default=["none"]) | list | length
xs | batch(3) | list
xs | batch(3, 0) | list
d | items | list
missing | items | list
d.e | dictsort
{"b": 1, "A": 2, "c": 0} | dictsort
{"b": 1, "A": 2, "c": 0} | dictsort(true)
{"b": 1, "A": 2, "c": 0} | dictsort(by="value")
{"b": 1, "A": 2} | dictsort(reverse=true)
missing | default("x")
missing | d
n | default("x")
n | default("x", true)
"" | default("x", boolean=true)
d.zz | default("none")
s | replace("l", "L")
s | replace("l", "L", 1)
12 | replace(1, 3)
s | indent
lines | indent
lines | indent(2, true)
lines | indent(2, first=true, blank=true)
lines | indent("> ")
"a long text that goes on" | truncate(10)
"a long text that goes on" | truncate(10, true)
"a long text that goes on" | truncate(12, false, "…")
"abc" | truncate(3)
"abcdefghi" | truncate(5, leeway=0)
"ab" | center(7)
s | wordcount
html | e
html | escape
"a b/c?d=é&e" | urlencode
5 | string
none | string
xs | string
"5" | int
"5.9" | int
"x" | int
"x" | int(3)
" 12 " | int
"1_0" | int
"0x1f" | int(base=16)
"ff" | int(0, 16)
5.9 | int
-5.9 | int
true | int
none | int
"1.5" | float
"x" | float
"1e3" | float
".5" | float
3 | float
-3 | abs
-2.5 | abs
2.5 | round
3.5 | round
2.675 | round(2)
2.1 | round(1, "ceil")
2.19 | round(1, "floor")
7 | round
1234.5678 | round(2)
"%s=%s" | format("a", 1)
{"a": 1} | attr("a") is defined
s | tojson
odd | tojson
odd | tojson(ensure_ascii=true)
nested | tojson
d | tojson
d | tojson(indent=2)
nested | tojson(indent=4)
d | tojson(sort_keys=true)
d | tojson(separators=(",", ":"))
[1.0, 1e20, 1e-7, -0.0, 123456.789] | tojson
[] | tojson(indent=2)
{} | tojson(indent=2)
{1: "a", none: 2, true: 3, 1.5: 4} | tojson
(1, 2) | tojson
"</script>" | tojson
s is defined
missing is defined
missing is undefined
n is none
n is not none
i is number
true is number
f is float
i is integer
true is integer
true is boolean
s is string
xs is string
d is mapping
xs is mapping
xs is sequence
s is sequence
i is sequence
xs is iterable
s is iterable
i is iterable
missing is iterable
i is odd
i is even
i is divisibleby 7
i is divisibleby(2)
s is lower
"abc" is lower
"ABC" is upper
true is true
1 is true
false is false
0 is false
i is sameas i
i is eq 7
i is equalto(7)
i is ne 8
i is gt 3
i is ge 7
i is lt 3
i is le 7
"a" is in ["a"]
"upper" is filter
"nothing" is filter
"even" is test
range is callable
s is callable
not s is string
s is string and i is number
s is not string or i
range(3) | list
range(1, 4) | list
range(10, 0, -3) | list
range(0) | list
dict(a=1, b=2)
dict({"a": 1}, b=2)
[1, "a'b", 'c"d', "e'f\\"g", none, true, 1.0, [], {}, (), (1,), missing]
odd
[odd]
html
nested
{"k": [1, {"z": (1, 2)}]}
[1, 2,]
{"a": 1,}
(1, 2)
(1)
()
"\\x41\\u00e9\\U0001F642\\101\\n|\\t|\\q|\\\\"
"a\\
b"
big + 1
big * 1.0
-i
+i
- -i
1 if missing else 2
messages[0]["role"] + messages[-1].content
messages | length - 1
(messages | length) - 1
messages[1:] | map(attribute="content") | join
messages | selectattr("role", "equalto", "user") | first
strftime_now("%d %b %Y")
strftime_now("%Y-%m-%dT%H:%M")
strftime_now("")
xs.index(2)
xs.count(1)
s.nothing
i.nothing
n.nothing
s.isupper() or xs
"a" in "abc" and "b" not in "ac"
[x for x in xs]
i is
1 +
(1
s | nothing
s is nothing
s.nothing()
missing.x
missing[0]
missing + 1
missing()
nothing(1)
n + 1
"a" + 1
1 + "a"
[1] + (2,)
1 / 0
1 % 0
1 < "a"
1 in 5
5 | list
5 | length
none | join
xs | join(1, 2, 3)
s | replace("a")
s | upper(1)
s.split("")
s.index("zz")
xs.append(4)
d.update({})
d.pop("b")
range(1000000)
range(1, 2, 0)
[missing] | tojson
raise_exception("no " ~ s)
"%d" % "x"
"%s %s" % ("a",)
"%s" % ("a", "b")
{[]: 1}
xs[::0]
dict(1)
ns.x
s is in
a b
1 2
s | map | list
s.upper is callable
"abc
{"a" 1}
[1 2]
s | default(
x ==
== x
1 = 2
s is string is string
"\\x4"
xs | sort(attribute="nothing")
[1, "a"] | sort
-"a"
""".strip("\n").split("\n")
# The one expression that spans two lines.
_at = EXPRESSIONS.index('"a\\')
EXPRESSIONS[_at : _at + 2] = ["\n".join(EXPRESSIONS[_at : _at + 2])]

PIECES = [
    "",
    "\n",
    "\n\n",
    "text only\n",
    "a\r\nb\rc\r\n",
    "{# a comment #}\nx",
    "x\n  {#- comment -#}  \n y",
    "  {# c #}\n  {% set a = 1 %}\n  x{{ a }}\n",
    "a {% if yes %} b {% endif %} c",
    "a\n  {% if yes %}\n  b\n  {% endif %}\nc",
    "a\n  {%+ if yes %}\n  b\n  {%+ endif %}\nc",
    "a\n  {%- if yes -%}\n  b\n  {%- endif -%}\nc",
    "a\n  {% if yes +%}\n  b\n  {% endif +%}\nc",
    "a  {{- i -}}  b",
    "a  {{ i }}  \n{{ i }}\n\n{{ i }}\n",
    "{{ i }}\n",
    "\u3000\u00a0{{- i -}}\u2003\nx",
    "x {% raw %} {{ y }} {% if %} {% endraw %} z",
    "x\n  {% raw -%}\n  {{ y }}\n  {%- endraw %}\n z",
    "x\n  {%- raw %}\n a {% endraw -%}  \n z",
    "{{ '{{' }}{{ '%}' }}{{ \"}}\" }}",
    "{{ {'a': {'b': 1}} }}",
    "{{ {'a': {'b': 1}}['a']['b'] }}",
    "{% for x in xs %}{{ x }},{% endfor %}",
    "{% for x in xs %}\n- {{ x }}\n{% endfor %}",
    "{% for x in xs -%}\n  {{ x }}\n{%- endfor %}|",
    "{% for x in empty %}a{% else %}none{% endfor %}",
    "{% for x in missing %}a{% else %}none{% endfor %}",
    "{% for x in xs %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.first }}{{ loop.last }}{{ loop.length }}{{ loop.depth }} {% endfor %}",
    "{% for x in xs %}{{ loop.previtem | default('-') }}{{ x }}{{ loop.nextitem | default('-') }} {% endfor %}",
    "{% for x in xs %}{{ loop.cycle('a', 'b') }}{{ loop.changed(x) }} {% endfor %}",
    "{% for x in xs if x > 1 %}{{ x }}{{ loop.index }}{{ loop.last }}{% else %}e{% endfor %}",
    "{% for x in xs if x > 9 %}{{ x }}{% else %}e{% endfor %}",
    "{% for k, v in d.items() %}{{ k }}={{ v }};{% endfor %}",
    "{% for k in d %}{{ k }};{% endfor %}",
    "{% for c in 'aé漢' %}{{ c }}.{% endfor %}",
    "{% for a, (b, c) in [(1, (2, 3)), (4, [5, 6])] %}{{ a }}{{ b }}{{ c }} {% endfor %}",
    "{% for (a, b) in [(1, 2)] %}{{ a }}{{ b }}{% endfor %}",
    "{% for a in 1, 2 %}{{ a }}{% endfor %}",
    "{% for a, b in xs %}{{ a }}{% endfor %}",
    "{% for x in 5 %}{{ x }}{% endfor %}",
    "{% for x in xs %}{% if x == 1 %}{% continue %}{% endif %}{{ x }}{% endfor %}",
    "{% for x in xs %}{% if x == 2 %}{% break %}{% endif %}{{ x }}{% endfor %}",
    "{% for x in xs %}{% for y in xs %}{% if y == 1 %}{% break %}{% endif %}{{ x }}{{ y }} {% endfor %}{% endfor %}",
    "{% for x in xs %}{% with y = x %}{% if y == 2 %}{% break %}{% endif %}{{ y }}{% endwith %}{% endfor %}",
    "{% for x in [1, [2, [3]], 4] recursive %}{% if x is iterable %}({{ loop(x) }}){% else %}{{ x }}@{{ loop.depth }}{% endif %}{% endfor %}",
    "{% for x in xs %}{{ loop(x) }}{% endfor %}",
    "{% set x = 1 %}{% for y in xs %}{% set x = x + y %}{{ x }} {% endfor %}{{ x }}",
    "{% set x = 1 %}{% if yes %}{% set x = 2 %}{% endif %}{{ x }}",
    "{% set ns = namespace(x=1, y='a') %}{% for y in xs %}{% set ns.x = ns.x + y %}{% endfor %}{{ ns.x }}{{ ns.y }}{{ ns.z }}",
    "{% set ns = namespace({'a': 1}) %}{% set ns.b = 2 %}{{ ns.a + ns.b }}",
    "{% set d.x = 1 %}",
    "{% set zz.x = 1 %}",
    "{% set a, b = 1, 2 %}{{ a }}{{ b }}",
    "{% set a, b = [1, 2, 3] %}",
    "{% set a = 1, 2 %}{{ a }}",
    "{% set a %} block {{ i }} {% endset %}[{{ a }}]",
    "{% set a | trim | upper %} block {{ s }} {% endset %}[{{ a }}]",
    "{% set x = 1 %}{% set y %}{% set x = 2 %}{{ x }}{% endset %}{{ x }}{{ y }}",
    "{% set true = 1 %}",
    "{% filter upper %}abc {{ s }}{% endfilter %}",
    "{% filter replace('a', 'b') | upper %}abca{% endfilter %}",
    "{% with a = 1, b = i %}{{ a }}{{ b }}{% endwith %}{{ a }}",
    "{% with a = 1 %}{% with a = 2, b = a %}{{ a }}{{ b }}{% endwith %}{{ a }}{% endwith %}",
    "{% with %}{% set q = 1 %}{{ q }}{% endwith %}{{ q }}",
    "{% macro m(a, b=2, c=b) %}{{ a }}{{ b }}{{ c }};{% endmacro %}{{ m(1) }}{{ m(1, 3) }}{{ m(1, c=4) }}{{ m(b=5, a=6) }}{{ m() }}",
    "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(1, 2) }}",
    "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(b=2) }}",
    "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(1, a=2) }}",
    "{% macro m(n) %}{{ n }}{% if n > 0 %}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(5) }}",
    "{% macro m() %}{{ i }}{{ later }}{% endmacro %}{% set later = 9 %}{{ m() }}",
    "{% set x = 1 %}{% macro m() %}{% set x = 2 %}{{ x }}{% endmacro %}{{ m() }}{{ x }}",
    "{% macro m() %}  a  {% endmacro %}[{{ m() | trim }}]{{ m() ~ 'b' }}{{ m() | length }}",
    "{% macro m(x) %}<{{ caller() }}{{ x }}>{% endmacro %}{% call m(1) %}body {{ i }}{% endcall %}",
    "{% macro m() %}{% for x in xs %}{{ caller(x, 'k') }}{% endfor %}{% endmacro %}{% call(a, b) m() %}[{{ a }}{{ b }}]{% endcall %}",
    "{% macro outer() %}{% macro inner() %}in{% endmacro %}{{ inner() }}{% endmacro %}{{ outer() }}",
    "{% for x in xs %}{% macro m() %}{{ x }}{% endmacro %}{{ m() }}{% endfor %}",
    "{{ m is defined }}{% macro m() %}{% endmacro %}{{ m is callable }}{{ m.name }}",
    "{% set args = [1, 2] %}{% set kw = {'c': 3} %}{% macro m(a, b, c) %}{{ a }}{{ b }}{{ c }}{% endmacro %}{{ m(*args, **kw) }}",
    "{% if no %}a{% elif i > 9 %}b{% elif yes %}c{% else %}d{% endif %}",
    "{% if no %}a{% else %}d{% endif %}",
    "{% if not messages %}a{% endif %}{% if messages and i %}b{% endif %}",
    "{% generation %}a{% set q = 1 %}{{ q }}{% endgeneration %}{{ q }}",
    "{%- generation -%}  a  {%- endgeneration -%}  b",
    "{% for m in messages %}{% generation %}{{ m.content }}{% endgeneration %}{% endfor %}",
    "{% set messages = messages[1:] %}{{ messages | length }}",
    "{% set loop_messages = messages %}{% for m in loop_messages %}{% set content = m['content'] %}{% if loop.index0 == 0 %}{% set content = 'S' + content %}{% endif %}{{ content }}{% endfor %}",
    "{% set x = [] %}{% for y in xs %}{% set x = x + [y] %}{% endfor %}{{ x }}",
    "{{ loop }}",
    "{{ caller() }}",
    "{{ namespace(a=1) }}",
    "{{ 'a' if i == 7 }}{{ 'b' if i == 8 }}",
    "{% if i is odd and s is string %}x{% endif %}",
    "{% for role, name in [('user', 'U'), ('bot', 'B')] %}{{ role }}:{{ name }}{{ ', ' if not loop.last }}{% endfor %}",
    "{% if 'a' in 'abc' %}1{% endif %}{% if ('a', 'b') == ('a', 'b') %}2{% endif %}",
    "{{ 1 }}{{-2}}{{+3}}",
    "{%if yes%}a{%endif%}{{i}}{%-if yes-%}b{%-endif-%}",
    "{% if %}",
    "{% if yes %}",
    "{% if yes %}{% endfor %}",
    "{% for x in xs %}",
    "{% for in xs %}{% endfor %}",
    "{% for x xs %}{% endfor %}",
    "{% endif %}",
    "{% else %}",
    "{% nothing %}",
    "{% 1 %}",
    "{% break %}",
    "{% set %}",
    "{% set x %}",
    "{% set 1 = 2 %}",
    "{% set x = %}",
    "{% macro %}{% endmacro %}",
    "{% macro m(a=1, b) %}{% endmacro %}",
    "{% macro m(1) %}{% endmacro %}",
    "{% call i %}{% endcall %}",
    "{{",
    "{{ i",
    "{{ i }",
    "{% if yes }}",
    "{{ i %}",
    "{# never ends",
    "{% raw %} never ends",
    "{{ 'never ends }}",
    "{{ ) }}",
    "{{ (1] }}",
    "{{ }}",
    "{{ ! }}",
    "{{ a.1b }}",
    "{{ a. }}",
    "{{ a | }}",
    "{{ a is }}",
    "{{ f(a=1, 2) }}",
    "{{ f(a=1, a=2) }}",
    "{{ i ; }}",
]
