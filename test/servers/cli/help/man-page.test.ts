// `harvest man`: pages that man can show.
import { spawnSync } from 'node:child_process';
import t from 'tap';
import { COMMANDS } from '../../../../servers/cli/commands.js';
import { helpOf } from '../../../../servers/cli/help/command-help.js';
import { manPage } from '../../../../servers/cli/help/man-page.js';

const OPTION = {
  flags: '-c, --config <file>',
  description: 'a "file"',
  short: '-c',
  long: '--config',
  value: 'file',
  choices: [],
};

t.test('a page has the sections of man(7), and its text is no request of roff', async (t) => {
  const page = manPage(
    {
      name: 'harvest crawl',
      summary: 'control a crawl',
      description: 'controls a crawl',
      usage: 'harvest crawl [options]',
      operands: [{ name: 'url', description: 'a \\ URL' }],
      options: [OPTION],
      parts: [],
      more: ".RS is text\n'too\n\nExamples:\n  harvest crawl    # try it\n\nExit status: 0 done; 1 failure.",
      text: '',
    },
    { version: '1.2.3', originals: ['crawl', 'Crawl', 'crawler'], related: ['harvest', 'harvest run'] },
  );
  const body = page.slice(page.indexOf('.SH DESCRIPTION'));
  t.match(
    page,
    /^\.TH "HARVEST\\-CRAWL" 1 "" "harvest\\-kit 1\.2\.3"\n\.SH NAME\nharvest\\-crawl \\- control a crawl\n/,
  );
  t.equal(
    body,
    `.SH DESCRIPTION
Controls a crawl.
.PP
A link to the program runs this command if its name is crawl, Crawl or crawler.
.SH ARGUMENTS
.TP
\\fBurl\\fR
a \\e URL
.SH OPTIONS
.TP
\\fB\\-c, \\-\\-config <file>\\fR
a "file"
.SH NOTES
\\&.RS is text
\\&'too
.SH "EXAMPLES"
.nf
  harvest crawl    # try it
.fi
.SH "EXIT STATUS"
0 done; 1 failure.
.SH "SEE ALSO"
.BR harvest (1) ,
.BR harvest\\-run (1)
`,
  );
});

t.test('the page of every command has its exit statuses, or all of them', async (t) => {
  for (const entry of COMMANDS) {
    const page = manPage(await helpOf(entry), { version: '1', related: [] });
    t.equal(page.match(/^\.SH "EXIT STATUS"$/gm)?.length, 1, entry.name);
  }
  const crawl = COMMANDS.find(({ name }) => name === 'crawl');
  if (crawl === undefined) throw new Error('there is no command crawl');
  const page = manPage(await helpOf(crawl), { version: '1', related: [] });
  t.match(page, /^\.SH "EXIT STATUS"\nThe sections above .*\n\.TP\n\\fB0\\fR\ndone\n/m);
  t.match(page, /^\\fB70\\fR\na bug in this program$/m);
});

t.test('a remark about an example stands before it', async (t) => {
  const wrapit = COMMANDS.find(({ name }) => name === 'wrapit');
  if (wrapit === undefined) throw new Error('there is no command wrapit');
  const page = manPage(await helpOf(wrapit), { version: '1', related: [] });
  t.match(page, '.SH "EXAMPLE"\nA summarizer Abstract.sum.\n.PP\n.nf\n  head');
  const mergedb = COMMANDS.find(({ name }) => name === 'mergedb');
  if (mergedb === undefined) throw new Error('there is no command mergedb');
  t.match(
    manPage(await helpOf(mergedb), { version: '1', related: [] }),
    `.SH "EXAMPLE"\nIn a Gatherer's data directory.\n.PP\n.nf\n  harvest mktemplate`,
  );
});

const installed = spawnSync('mandoc', ['-T', 'lint'], { input: '' }).error === undefined;

t.test(
  'mandoc reads the pages of all commands',
  { skip: installed ? false : 'mandoc is not installed' },
  async (t) => {
    for (const entry of COMMANDS) {
      const page = manPage(await helpOf(entry), { version: '1', related: [] });
      const { stdout } = spawnSync('mandoc', ['-T', 'lint', '-W', 'warning'], {
        input: page,
        encoding: 'utf8',
      });
      t.same(
        stdout.split('\n').filter((line) => line !== '' && !line.includes('missing date')),
        [],
        entry.name,
      );
    }
  },
);
