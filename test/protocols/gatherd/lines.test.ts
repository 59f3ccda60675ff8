// Tests the parsers of command lines and status lines.
import { readFileSync } from 'node:fs';
import t from 'tap';
import {
  GATHERD_CODES,
  GATHERD_COMMANDS,
  parseCommand,
  parseStatusLine,
} from '../../../protocols/gatherd/index.js';

t.test('GATHERD-2.2, 2.3: commands are parsed', async (t) => {
  t.same(parseCommand('SEND-OBJECT http://a.example/a b '), { kind: 'object', oid: 'http://a.example/a b' });
  t.same(parseCommand('\tset\tCHANGES'), { kind: 'set', option: 'changes' });
  t.same(parseCommand('send-update 000'), { kind: 'update', since: 0 });
  t.equal(parseCommand(' \t'), undefined);
  t.same(parseCommand(`x${' '.repeat(8000)}y`), { kind: 'unknown', verb: 'x' });
});

t.test('the README has the table of the commands', async (t) => {
  const rows = GATHERD_COMMANDS.map(({ usage, answer, rules }) => `| \`${usage}\` | ${answer} | ${rules} |`);
  const readme = new URL('protocols/gatherd/README.md', import.meta.resolve('#package.json'));
  t.ok(readFileSync(readme, 'utf8').includes(rows.join('\n')), rows.join('\n'));
});

t.test('GATHERD-1.6: status lines are parsed', async (t) => {
  t.same(parseStatusLine('499 - Sent 2 objects'), { code: 499, text: 'Sent 2 objects' });
  t.same(parseStatusLine('099 -'), { code: 99, text: '' });
  for (const line of ['', '49 - x', '4999 - x', '499', '499 x', '499  - x', ' 499 - x', 'abc - x']) {
    t.equal(parseStatusLine(line), undefined, line);
  }
  t.equal(new Set(Object.values(GATHERD_CODES)).size, Object.keys(GATHERD_CODES).length);
});
