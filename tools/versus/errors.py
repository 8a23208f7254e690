# SPDX-License-Identifier: Apache-2.0
"""What goes wrong for reasons a person can do something about: one line, exit code 1."""


class VersusError(Exception):
    pass
