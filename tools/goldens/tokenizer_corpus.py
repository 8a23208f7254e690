# SPDX-License-Identifier: Apache-2.0
"""Texts that tokenizers disagree on: scripts, emoji sequences, marks, runs, line ends, apostrophes, special tokens.

`texts()` gives the same list everywhere; test/runtime/text/corpus.json is its copy for tests without Python.
"""

import random

SENTENCES = [
    "The quick brown fox jumps over the lazy dog.",
    "Wie ein großes Übel dürfte es schwäbische Flüsse treffen – „schön“, sagte er.",
    "Voix ambiguë d’un cœur qui, au zéphyr, préfère les jattes de kiwis.",
    "El pingüino Wenceslao hizo kilómetros bajo exhaustiva lluvia y frío.",
    "Příliš žluťoučký kůň úpěl ďábelské ódy.",
    "Pchnąć w tę łódź jeża lub ośm skrzyń fig.",
    "Съешь же ещё этих мягких французских булок, да выпей чаю.",
    "Ξεσκεπάζω την ψυχοφθόρα βδελυγμία.",
    "שפן אכל קצת גזר בטעם חסה, ודי.",
    "بِسْمِ ٱللَّهِ ٱلرَّحْمَٰنِ ٱلرَّحِيمِ",
    "صِف خَلقَ خَودِ كَمِثلِ الشَمسِ إِذ بَزَغَت",
    "ऋषियों को सताने वाले दुष्ट राक्षसों का सर्वनाश करने वाले।",
    "আমি কাঁচ খেতে পারি, তাতে আমার কোনো ক্ষতি হয় না।",
    "நான் கண்ணாடி சாப்பிடுவேன், அதனால் எனக்கு ஒரு கேடும் வராது.",
    "เป็นมนุษย์สุดประเสริฐเลิศคุณค่า กว่าบรรดาฝูงสัตว์เดรัจฉาน",
    "ကျွန်တော် ကျွန်မ မှန်စားနိုင်တယ်။",
    "ខ្ញុំអាចញុំកញ្ចក់បាន ដោយគ្មានបញ្ហា",
    "ལྷ་སའི་མི་རིགས།",
    "我能吞下玻璃而不伤身体。天地玄黄，宇宙洪荒。",
    "いろはにほへと ちりぬるを わかよたれそ つねならむ",
    "ガラスを食べられます。それは私を傷つけません。１２３ＡＢＣ",
    "키스의 고유조건은 입술끼리 만나야 하고 특별한 기술은 필요치 않다.",
    "Я можу їсти скло, і воно мені не зашкодить.",
    "Mogę jeść szkło i mi nie szkodzi. Ég get etið gler án þess að meiða mig.",
    "Tôi có thể ăn thủy tinh mà không hại gì. Trăm năm trong cõi người ta.",
    "ᚠᛇᚻ᛫ᛒᛦᚦ᛫ᚠᚱᚩᚠᚢᚱ᛫ᚠᛁᚱᚪ᛫ᚷᛖᚻᚹᛦᛚᚳᚢᛗ",
    "𐌼𐌰𐌲 𐌲𐌻𐌴𐍃 𐌹̈𐍄𐌰𐌽 𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𝟙𝟚𝟛 𝓗𝓮𝓵𝓵𝓸",
    "ⴰⵣⵓⵍ ⴼⵍⵍⴰⵡⵏ ꦲꦏ꧀ꦱꦫꦗꦮ ᏣᎳᎩ ᐃᓄᒃᑎᑐᑦ",
]

EMOJI = [
    "😀", "👍🏽", "👨‍👩‍👧‍👦", "🤦🏽‍♂️", "🏳️‍🌈", "🏴‍☠️", "🏴󠁧󠁢󠁳󠁣󠁴󠁿", "🇩🇪🇫🇷🇯🇵", "1️⃣2️⃣#️⃣", "❤️‍🔥", "👩🏻‍🚀", "🧑🏿‍🤝‍🧑🏻",
    "☺︎☺️", "🫠🫶🏾", "✈️✈︎", "🀄🃏", "👁️‍🗨️",
]

MARKS = [
    "e\u0301 é", "A\u030a Å Å", "n\u0303o\u0308", "s\u0323\u0307 s\u0307\u0323", "Z\u0324\u0351\u036b\u0343a\u0347\u0308\u0352l\u0323g\u031ao\u0301\u0302",
    "\u0301leading mark", "q\u0307\u0323x", "각 각", "ᄒ\u1161\u11ab한", "\u1e9b\u0323", "ﬁ ﬂ ﬃ ﬀ", "① ② ㎏ ㍿ ½ ¼", "ｆｕｌｌ ｗｉｄｔｈ", "ª º ² ³ ⁴",
    "İstanbul ıi", "ſ long s 'ſ", "K kelvin 'K", "\u212b\u2126", "क़ क\u093c", "\u0f73\u0f71\u0f72", "a\u0315\u0300\u05ae\u0300b", "ﷺ", "ꙮ\u0489҈",
]

SPACES = [
    " ", "  ", "   ", " " * 7, " " * 16, " " * 33, "\t", "\t\t\t", "\n", "\n\n", "\n\n\n\n", "\r\n", "\r\n\r\n", "\r", " \n", "\n ", " \t\n \r\n  ",
    "\u00a0", "\u2003\u2009", "\u3000全角\u3000", "\u200b", "\u2028\u2029", "\u0085", "\u000b\u000c", "\u180e", "\ufeff", "\u1680x\u205f",
]

NUMBERS = [
    "0", "12", "123", "1234", "12345", "1234567890", "3.14159", "1,000,000.00", "-1e-10", "0x1F600", "٣٤٥٦", "१२३४", "１２３４５", "ⅠⅡⅢⅣ", "1st 2nd 3rd",
    "2026-11-29T21:17:48Z", "192.168.0.1", "$1,234.56", "50%", "1/2", "H2O CO2", "x²+y³=z⁴", "000000", "9" * 40, "①②③④⑤",
]

APOSTROPHES = [
    "I'm you're he's we've they'll she'd don't", "I’m you’re he’s we’ve they’ll she’d don’t", "I'M YOU'RE HE'S WE'VE THEY'LL SHE'D DON'T",
    "'s 't 're 've 'm 'll 'd", "'S'T'RE'VE'M'LL'D", "rock 'n' roll", "''quoted'' ``text´´", "l'homme d'accord", "O'Neill's", "'Tis", "it'sx it's", "x'", "'",
    "’", "ʼn ŉ", "'ſ 'ſt",
]

PUNCTUATION = [
    "Hello, world!", "wait...what?!", "(a)[b]{c}<d>", "a_b-c+d=e*f/g", "foo::bar->baz", "/* comment */ // x", "#include <stdio.h>", "C:\\path\\to\\file",
    "https://example.org/a?b=c&d=%20e#f", "user@example.org", "—–‐‑−", "…‥", "«a» ‹b› „c“ ‚d‘", "¿Qué? ¡No!", "。、「」『』【】", "؟،؛", "€£¥₹₿", "™®©",
    "←↑→↓⇒", "∀x∈ℝ: ⌈x⌉ = −⌊−x⌋", "██▓▒░", "─│┌┐└┘", "♔♕♖", "\\n\\t\\\"", "a\\b", "!!!!!!!!!!", "-" * 50, "=" * 30, "*" * 17, "_" * 9, "." * 70,
]

CODE = [
    "def f(x):\n    return x ** 2\n\n\nclass A:\n\tpass\n",
    "for (int i = 0; i < n; ++i) {\n    sum += a[i];\n}\r\n",
    '{"key": [1, 2.5, null, true], "täst": "wert\\u00e9"}',
    "SELECT * FROM `t` WHERE a='b' AND c<>\"d\";",
    "camelCaseWord PascalCaseWord snake_case_word SCREAMING_SNAKE kebab-case HTTPServer iOS macOS",
    "<div class=\"a b\">&nbsp;x</div>\n<!-- c -->",
    "| a | b |\n|---|---|\n| 1 | 2 |\n",
    "\\begin{align} x &= \\frac{1}{2} \\\\ \\end{align}",
    "```python\nprint('hi')\n```",
    "\x1b[31mred\x1b[0m",
    "a\0b",
    "\x01\x02\x7f",
    "1\t2\t3\n4\t5\t6\n",
]

SPECIALS = [
    "<s>", "</s>", "<unk>", "<s>Hello</s>", " <s> a </s> b", "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n", "<|endoftext|>", "a<|endoftext|>b",
    "  <|endoftext|>  x", "<|endoftext|><|endoftext|>", "<|im_start|", "<|im_end|>>", "<<|im_end|>", "<|begin_of_text|>x<|eot_id|>", "[INST] hi [/INST]",
    "<EOT>a<META>", "<|fim_prefix|>a<|fim_suffix|>b<|fim_middle|>", "<|endofprompt|>", "<0x0A>", "<0x41><0xZZ>", "▁", "▁▁a", " ▁ b", "Ġ Ċ", "ĠĠx", "<pad>",
    "a <left> b", "a   <left>b", "<left><left>", "a<right>   b", "<right>\n\nb", " <left> <right> c", "alone", "an alone man", "aloneness", "alone!", "(alone)",
    "two words", "Two words", "two  words", "éalone alone\u0301", "_alone alone_", "2alone", "<left>alone<right>", "<s><left> <s>", "two words alone",
]

RUNS = [
    "a" * 100, "ab" * 60, "A" * 64, "é" * 50, "的" * 80, "😀" * 20, "ha" * 40, " a" * 50, "a b" * 30, "\n" * 40, "0" * 100, "aaaaaaaab" * 12, "the " * 30,
    "\u0301" * 30, "न्" * 25, "\u200d" * 20, "x" * 41, "y" * 40, "z" * 39, " \n" * 20, "\t " * 20,
]


def combined(count, seed):
    """Pieces of all kinds one behind the other, with and without spaces."""
    rng = random.Random(seed)
    pools = [SENTENCES, EMOJI, MARKS, SPACES, NUMBERS, APOSTROPHES, PUNCTUATION, CODE, SPECIALS]
    result = []
    for _ in range(count):
        parts = []
        for _ in range(rng.randrange(2, 6)):
            piece = rng.choice(rng.choice(pools))
            begin = rng.randrange(max(1, len(piece) - 3))
            parts.append(piece[begin : begin + rng.randrange(1, 30)])
        result.append(rng.choice(["", " ", "\n", "  "]).join(parts))
    return result


def characters(count, seed):
    """Characters of all planes at random."""
    rng = random.Random(seed)
    ranges = [(0x20, 0x7F), (0, 0x20), (0xA0, 0x250), (0x300, 0x370), (0x370, 0x600), (0x600, 0x700), (0x900, 0xE00), (0x1100, 0x1200)]
    ranges += [(0x2000, 0x2C00), (0x3000, 0x3100), (0x4E00, 0x9FA5), (0xAC00, 0xD7A4), (0xF900, 0xFA00), (0xFF00, 0xFFF0), (0x1F300, 0x1F700)]
    result = []
    for _ in range(count):
        text = ""
        for _ in range(rng.randrange(1, 25)):
            low, high = rng.choice(ranges)
            text += chr(rng.randrange(low, high)) * rng.choice([1, 1, 1, 2, 5])
        result.append(text)
    return result


def texts():
    fixed = [""] + SENTENCES + EMOJI + MARKS + SPACES + NUMBERS + APOSTROPHES + PUNCTUATION + CODE + SPECIALS + RUNS
    around = [f"{space}word{space}word{space}" for space in SPACES]
    around += [f"x{emoji}y {emoji}" for emoji in EMOJI]
    all_texts = fixed + around + combined(120, 1) + characters(80, 2)
    return list(dict.fromkeys(all_texts))
