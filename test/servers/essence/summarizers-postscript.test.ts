// The interpreter of PostScript: processor time.
import t from 'tap';
import { PsMachine } from '../../../servers/essence/summarizers/postscript/machine.js';
import { OPERATORS } from '../../../servers/essence/summarizers/postscript/postscript.js';
import { DocumentComments, ShownText } from '../../../servers/essence/summarizers/postscript/shown-text.js';
import { summaryOf } from './fixtures/summary-of.js';

t.test('E-45: a word of many digits that is no number takes linear time', async (t) => {
  // In quadratic time it would take minutes.
  const { all } = await summaryOf(
    'PostScript',
    `%!PS\n/Times findfont 10 scalefont setfont 72 700 moveto (before) show showpage\n${'4'.repeat(900_000)}x\n`,
  );
  t.equal(all['Partial-Text']?.trim(), 'before');
});

t.test('E-45: a program ends by its processor time, not by its steps', (t) => {
  const run = (program: string, used: (looks: number) => number) => {
    let looks = 0;
    const shown = new ShownText(new DocumentComments());
    const machine = new PsMachine(Buffer.from(program), OPERATORS, shown, {
      maxTextLength: 1000,
      maxProcessorMs: 8000,
      cpuUsage: (since) => ({ user: since === undefined ? 0 : used(++looks), system: 0 }),
    });
    machine.run();
    return { failure: machine.failure, text: shown.text.finish(), looks };
  };
  const show = '/F findfont 10 scalefont setfont 9 9 moveto';
  const long = `${show} (seen) show 13000000 { } repeat ( and the end) show`;
  const whole = run(long, () => 8_000_000);
  t.same([whole.failure, whole.text], [undefined, 'seen and the end'], 'more than 12 million steps');
  t.ok(whole.looks >= 13);
  const cut = run(long, (looks) => looks * 2_000_000);
  t.same([cut.text, cut.looks], ['seen', 5]);
  t.match(cut.failure, /more than 8000 ms of processor time/);
  const short = run(`${show} 0 1 300000 { pop } for (whole) show`, () => 1e12);
  t.same([short.failure, short.text, short.looks], [undefined, 'whole', 0], 'short programs need no clock');
  t.end();
});
