// The summarizers of structured formats: office documents, mail, bibliographies, version control, programs, images, sound, fonts.

import t from 'tap';
import { zip } from '../../helpers/archives.js';
import { summaryOf } from './fixtures/summary-of.js';

/** Makes a zip archive of texts. */
function zipOf(members: Readonly<Record<string, string>>): Uint8Array {
  return zip(Object.entries(members).map(([name, text]) => [name, Buffer.from(text)]));
}

t.test('OpenDocument and Office Open XML yield properties, headings and text', async (t) => {
  const odt = zipOf({
    'meta.xml': '<m><dc:title>The title</dc:title><dc:creator>A. Author</dc:creator></m>',
    'content.xml':
      '<d><text:h>Head</text:h><text:p>One<text:tab/>two &amp; <text:a xlink:href="http://b.test/">three</text:a></text:p></d>',
  });
  t.same((await summaryOf('OpenDocument', odt)).all, {
    Title: 'The title',
    Author: 'A. Author',
    References: 'http://b.test/',
    Headings: 'Head',
    'Partial-Text': 'Head\nOne\ttwo & three\n',
  });
  const docx = zipOf({
    'docProps/core.xml': '<c><dc:title>T</dc:title><cp:keywords>k</cp:keywords></c>',
    'word/document.xml':
      '<w:d><w:p><w:r><w:t>Hello</w:t><w:instrText>not</w:instrText></w:r></w:p><w:p><w:t>all</w:t></w:p></w:d>',
  });
  t.same((await summaryOf('OfficeOpenXML', docx)).all, {
    Title: 'T',
    Keywords: 'k',
    'Partial-Text': 'Hello\nall\n\n',
  });
  const xlsx = zipOf({
    'xl/workbook.xml': '<w><sheets><sheet name="Prices" r:id="r1"/><sheet name="Sums"/></sheets></w>',
    'xl/_rels/workbook.xml.rels': '<r><Relationship Id="r1" Target="worksheets/a.xml"/></r>',
    'xl/sharedStrings.xml': '<s><si><t>wheat</t></si><si><t>rye</t></si></s>',
    'xl/worksheets/a.xml': '<w><row><c t="s"><v>1</v></c></row><row><c t="s"><v>0</v></c></row></w>',
  });
  const sheet = (await summaryOf('OfficeOpenXML', xlsx)).all;
  t.equal(sheet.Headings, 'Prices\nSums');
  t.equal(sheet['Partial-Text'], 'rye\nwheat\n\n');
  t.equal((await summaryOf('Word', docx)).all.Title, 'T', 'the content decides, not the name');
  t.equal((await summaryOf('Word', 'Plain words')).all['Partial-Text'], 'Plain words');
  t.match((await summaryOf('OpenDocument', 'no zip')).warnings[0], /office document could not be read/);
});

t.test('WordPerfect 5 yields the text between its codes', async (t) => {
  const head = Buffer.from('\xffWPC\x10\0\0\0\x01\x0a\0\x01\0\0\0\0', 'latin1');
  // A group of variable length (0xd1, size 4), an extended character (A acute), a hard return.
  const body = Buffer.from('Words\xd1\x01\x04\0abcd and \xc0\x1a\x01\xc0more\x0aline', 'latin1');
  t.equal(
    (await summaryOf('WordPerfect', Buffer.concat([head, body]))).all['Partial-Text'],
    'Words and Ámore\nline',
  );
});

t.test('Mail and News (6.2) yield decoded header fields; a folder has several messages', async (t) => {
  const mail = `From: =?iso-8859-1?Q?J=FCrgen?= <j@a.test>
To: b@b.test, C <c@c.test>
Subject: Hello
Date: Tue, 1 Mar 1994 10:00:00 +0000
Message-ID: <1@a.test>
Content-Type: multipart/alternative; boundary=x

--x
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: quoted-printable

The b=C3=B6dy
--x
Content-Type: text/html

<b>no</b>
--x--
`;
  const { all } = await summaryOf('Mail', mail);
  t.match(all, {
    Author: 'Jürgen <j@a.test>',
    Title: 'Hello',
    To: 'b@b.test, C <c@c.test>',
    Date: 'Tue, 1 Mar 1994 10:00:00 +0000',
    'Message-Id': '<1@a.test>',
  });
  t.match(all['Partial-Text'], /^The bödy/);
  const folder = 'From a Tue\nSubject: one\n\nx\n\nFrom b Wed\nSubject: two\n\ny\n';
  t.equal((await summaryOf('Mail', folder)).all.Title, 'one\ntwo');
  const news =
    'Path: a!b\nFrom: a@a.test\nNewsgroups: comp.test\nSubject: S\nOrganization: O\nSummary: In short\n\nText\n';
  t.match((await summaryOf('News', news)).all, {
    Author: 'a@a.test',
    Title: 'S',
    Newsgroups: 'comp.test',
    Organization: 'O',
    Summary: 'In short',
  });
});

t.test(
  'Bibliographic and ReferBibliographic yield the fields of an entry (6.2, E-65; vector 9)',
  async (t) => {
    const bib = `@string{cacm = "Comm. ACM"}
@comment{ignored}
@Article{knuth, author = {Donald E. {Knuth} and J. M\\"uller}, title = "On {TeX}", journal = cacm # " extra", year = 1984}`;
    t.same((await summaryOf('Bibliographic', bib)).all, {
      Author: 'Donald E. Knuth and J. Müller',
      Title: 'On TeX',
      Journal: 'Comm. ACM extra',
      Year: '1984',
    });
    const refer =
      '%A A. S. Tanenbaum\n%T Computer Networks\n%I Prentice Hall\n%C Englewood Cliffs, NJ\n%D 1988\n';
    t.same((await summaryOf('ReferBibliographic', refer)).all, {
      Author: 'A. S. Tanenbaum',
      Title: 'Computer Networks',
      Issuer: 'Prentice Hall',
      City: 'Englewood Cliffs, NJ',
      Date: '1988',
    });
  },
);

t.test('Patch, RCS and SCCS (6.2) yield files, authors and versions', async (t) => {
  const patch =
    'diff -u a/x.c b/x.c\n--- a/x.c\t1994-01-01\n+++ b/x.c\t1994-01-02\n@@ -1 +1 @@\n*** 1,5 ****\nIndex: y.c\n';
  t.same((await summaryOf('Patch', patch)).all, { References: 'x.c\ny.c' });
  const rcs = `head\t1.2;\naccess;\n1.2\ndate\t94.05.17.12.30.00;\tauthor joe;\tstate Exp;\n1.1\ndate\t94.05.16.12.30.00;\tauthor ann;\tstate Exp;
desc\n@What it is@\n1.2\nlog\n@Better @@ all@\ntext\n@x@\n`;
  t.same((await summaryOf('RCS', rcs)).all, {
    Author: 'joe\nann',
    Description: 'Better @ all',
    Version: '1.2',
    Date: '1994-05-17 12:30:00',
  });
  const sccs =
    '\x01h123\n\x01s 1/0/0\n\x01d D 1.2 94/05/17 12:30:00 joe 2 1\n\x01c later\n\x01e\n\x01d D 1.1 94/05/16 12:30:00 ann 1 0\n\x01c first\n\x01e\n\x01u\n';
  t.same((await summaryOf('SCCS', sccs)).all, {
    Author: 'joe\nann',
    Description: 'later',
    Version: '1.2',
    Date: '94/05/17 12:30:00',
  });
});

t.test(
  'WaisSource, LSM, RFC, Framemaker, SymbolicLink and Binary yield their fields (6.2, E-48)',
  async (t) => {
    const wais =
      '(:source\n :version 3\n :ip-name "wais.test"\n :tcp-port 210\n :database-name "db"\n :maintainer "m@a.test"\n :description "About \\"it\\"" )';
    t.same((await summaryOf('WaisSource', wais)).all, {
      Title: 'db',
      Description: 'About "it"',
      Author: 'm@a.test',
      Host: 'wais.test',
      Port: '210',
    });
    t.same((await summaryOf('LSM', 'Begin3\nTitle: x\nDesc1 = one\n more\nAuthor: A\nEnd\n')).all, {
      Title: 'x',
      Description: 'one\nmore',
      Author: 'A',
    });
    const rfc =
      'Network Working Group                         J. Postel\nRequest for Comments: 1                             ISI\n\n\n                    The Title\n\nAbstract\n\n   In short.\n\n1. Text\n';
    t.match((await summaryOf('RFC', rfc)).all, {
      Title: 'The Title',
      Author: 'J. Postel',
      Abstract: 'In short.',
    });
    const mif =
      "<Para\n <PgfTag `Heading1'>\n <String `The \\q1\\q'>\n>\n<Para <PgfTag `Body'> <String `words'> <Char HardReturn> <String `more'>>";
    t.same((await summaryOf('Framemaker', mif)).all, {
      Title: "The '1'",
      Headings: "The '1'",
      'Partial-Text': "The '1'\nwords\nmore",
    });
    t.same((await summaryOf('SymbolicLink', '../there')).all, { Title: 'name.x', References: '../there' });
    t.equal(
      (await summaryOf('Binary', '\0\x01usage: prog\0\x02@#$%^\0xyz\0')).all['Partial-Text'],
      'usage: prog',
    );
  },
);

t.test('Object and Archive (6.2) yield the defined global symbols', async (t) => {
  // ELF, 32 bits, little-endian: header, three symbols, their names, two section headers.
  const elf = Buffer.alloc(52 + 48 + 16 + 80);
  elf.write('\x7fELF\x01\x01\x01', 0, 'latin1');
  elf.writeUInt32LE(116, 32);
  elf.writeUInt16LE(40, 46);
  elf.writeUInt16LE(2, 48);
  const symbol = (at: number, name: number, info: number, section: number) => {
    elf.writeUInt32LE(name, at);
    elf.writeUInt8(info, at + 12);
    elf.writeUInt16LE(section, at + 14);
  };
  symbol(52, 1, 0x12, 1);
  symbol(68, 6, 0x10, 0);
  symbol(84, 6, 0x02, 1);
  elf.write('\0main\0puts\0', 100, 'latin1');
  elf.writeUInt32LE(2, 116 + 4);
  elf.writeUInt32LE(52, 116 + 16);
  elf.writeUInt32LE(48, 116 + 20);
  elf.writeUInt32LE(1, 116 + 24);
  elf.writeUInt32LE(100, 156 + 16);
  t.same(
    (await summaryOf('Object', elf)).all,
    { Keywords: 'main' },
    'undefined and local symbols are left out',
  );
  const head = `main.o/${' '.repeat(41)}${String(elf.length).padEnd(10)}\`\n`;
  const archive = Buffer.concat([Buffer.from('!<arch>\n'), Buffer.from(head), elf]);
  t.same((await summaryOf('Archive', archive)).all, { Contents: 'main.o', Keywords: 'main' });
});

t.test('Image (E-141) yields format, size and comments', async (t) => {
  const png = Buffer.from(
    '\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x01\0\0\0\0\x10\x08\0\0\0\0crc_\0\0\0\x07tEXtTitle\0xcrc_',
    'latin1',
  );
  const { all } = await summaryOf('Image', png);
  t.equal(all.Title, 'x');
  t.equal(all.Description, 'PNG image, 256 x 16 pixels');
  const gif = Buffer.from('GIF89a\x02\0\x03\0\0\0\0\x21\xfe\x05hello\0\x2c', 'latin1');
  t.equal((await summaryOf('Image', gif)).all.Description, 'hello\nGIF image, 2 x 3 pixels');
  const jpeg = Buffer.from('\xff\xd8\xff\xfe\0\x07hello\xff\xc0\0\x11\x08\0\x10\0\x20\x03', 'latin1');
  t.equal(
    (await summaryOf('Image', Buffer.concat([jpeg, Buffer.alloc(20)]))).all.Description,
    'hello\nJPEG image, 32 x 16 pixels',
  );
  t.equal(
    (await summaryOf('Image', 'P5\n# made\n7 9\n255\n')).all.Description,
    'made\nPNM image, 7 x 9 pixels',
  );
});

t.test('Audio (6.2) yields title, artist, codec and duration', async (t) => {
  const au = Buffer.alloc(32 + 16_000);
  au.write('.snd\0\0\0\x20', 0, 'latin1');
  au.writeUInt32BE(1, 12);
  au.writeUInt32BE(8000, 16);
  au.writeUInt32BE(1, 20);
  au.write('bell', 24);
  t.same((await summaryOf('Audio', au)).all, {
    Title: 'name.x',
    Description: 'bell\nSun audio, mu-law, 2.0 seconds',
    Duration: '2.0',
  });
  const id3 = Buffer.from('ID3\x03\0\0\0\0\0\x20TIT2\0\0\0\x05\0\0\0SongTPE1\0\0\0\x03\0\0\0Me', 'latin1');
  t.same((await summaryOf('Audio', id3)).all, { Title: 'Song', Author: 'Me', Description: 'MPEG audio' });
  const flac = Buffer.from('fLaC\x84\0\0\x15\x01\0\0\0x\x01\0\0\0\x08\0\0\0TITLE=hi', 'latin1');
  t.same((await summaryOf('Audio', flac)).all, { Title: 'hi', Description: 'FLAC audio' });
});

t.test('Font (6.2, E-75) yields names and comments', async (t) => {
  t.same(
    (await summaryOf('Font', 'STARTFONT 2.1\nCOMMENT Public\nCOMMENT domain\nFONT -misc-fixed\nSIZE 1\n'))
      .all,
    {
      Title: '-misc-fixed',
      Description: 'Public\ndomain',
    },
  );
  const pfa =
    '%!PS-AdobeFont-1.0: Test\n%Copyright nobody\n/FullName (Test Roman) def\n/Notice (Free) def\neexec\n% not this\n';
  t.same((await summaryOf('Font', pfa)).all, { Title: 'Test Roman', Description: 'Copyright nobody\nFree' });
  const name = Buffer.from('\0\0\0\x01\0\x12\0\x03\0\x01\x04\x09\0\x04\0\x04\0\0\0A\0b', 'latin1');
  const ttf = Buffer.concat([
    Buffer.from('\0\x01\0\0\0\x01\0\0\0\0\0\0name\0\0\0\0\0\0\0\x1c\0\0\0\x16', 'latin1'),
    name,
  ]);
  t.same((await summaryOf('Font', ttf)).all, { Title: 'Ab' });
});
