// A report in TAP on a terminal: colored verdicts, and no control characters of the peer.
import { stripVTControlCharacters } from 'node:util';
import t from 'tap';
import { colorReport } from '../../../../servers/cli/testing/actions/color-report.js';

// Without it, Node colors nothing while standard output is no terminal.
process.env.FORCE_COLOR = '1';

const REPORT = [
  'TAP version 14',
  'ok 1 - a: first (MUST X-1)',
  'not ok 2 - b: second (MUST X-2)',
  '  ---',
  '  message: "another form"',
  '  milliseconds: 4',
  '    - "> HELP\\\\n"',
  'not ok 3 - c: third (SHOULD X-3) # TODO a SHOULD',
  'ok 4 - d: fourth (MUST X-4) # SKIP refused',
  '# 4 cases',
  '',
].join('\n');

t.test('verdicts have colors, and the text is that of the report', async (t) => {
  const colored = colorReport(REPORT);
  t.equal(stripVTControlCharacters(colored), REPORT);
  t.match(colored, '\x1b[32mok\x1b[39m 1 - a');
  t.match(colored, '\x1b[31mnot ok 2 - b: second (MUST X-2)\x1b[39m\n');
  t.match(colored, '\x1b[33mnot ok 3');
  t.match(colored, '\x1b[2mok 4');
  t.match(colored, '\n  message: "another form"\n');
  t.match(colored, '\x1b[2m  milliseconds: 4\x1b[22m\n    - "> HELP');
});

t.test('control characters of the peer are visible', async (t) => {
  t.notMatch(colorReport('ok 1 - \x1b]0;title\x07\n'), /\x1b\]|\x07/);
});
