// Office documents in XML: OpenDocument and OfficeOpenXML, in a zip archive or as one file.

import t from 'tap';
import { ZipMembers } from '../../../servers/essence/summarizers/office/zip-members.js';
import { zip } from '../../helpers/archives.js';
import { summaryOf } from './fixtures/summary-of.js';

/** Makes a zip archive of texts. */
function zipOf(members: Readonly<Record<string, string>>): Uint8Array {
  return zip(Object.entries(members).map(([name, text]) => [name, Buffer.from(text)]));
}

/** Relationships by identifier: type, target, and whether it is external. */
function rels(entries: Readonly<Record<string, readonly [type: string, target: string]>>): string {
  const lines = Object.entries(entries).map(([id, [type, target]]) => {
    const mode = /^https?:/.test(target) ? ' TargetMode="External"' : '';
    return `<Relationship Id="${id}" Type="http://x.test/relationships/${type}" Target="${target}"${mode}/>`;
  });
  return `<?xml version="1.0"?><Relationships>${lines.join('')}</Relationships>`;
}

const run = (text: string) => `<w:r><w:t>${text}</w:t></w:r>`;
const styled = (style: string, text: string) =>
  `<w:p><w:pPr><w:pStyle w:val="${style}"/></w:pPr>${run(text)}</w:p>`;

t.test('DOCX (6.2) has headings by style, references, notes, and each text once', async (t) => {
  const field = (code: string) =>
    `<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> HYPER</w:instrText></w:r><w:r><w:instrText>LINK ${code} </w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r>${run('shown')}<w:r><w:fldChar w:fldCharType="end"/></w:r>`;
  const docx = zipOf({
    '_rels/.rels': rels({ a: ['officeDocument', '/word/main.xml'] }),
    'docProps/core.xml':
      '<c><dc:creator>A. Author</dc:creator><dcterms:created>2001-02-03T04:05:06Z</dcterms:created></c>',
    'docProps/custom.xml':
      '<p><property name="Keywords"><vt:lpwstr>one; two</vt:lpwstr></property><property name="x"><vt:i4>1</vt:i4></property></p>',
    'word/_rels/main.xml.rels': rels({
      r1: ['hyperlink', 'http://link.test/'],
      r2: ['header', 'header1.xml'],
      r3: ['footnotes', 'notes.xml'],
      r4: ['styles', 'styles.xml'],
    }),
    'word/styles.xml':
      '<w:styles><w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style>' +
      '<w:style w:styleId="Mine"><w:name w:val="Mine"/><w:basedOn w:val="berschrift1"/></w:style>' +
      '<w:style w:styleId="Level"><w:name w:val="L"/><w:pPr><w:outlineLvl w:val="2"/></w:pPr></w:style>' +
      '<w:style w:styleId="Round"><w:name w:val="R"/><w:basedOn w:val="Round"/></w:style>' +
      '<w:style w:styleId="Titel"><w:name w:val="Title"/></w:style></w:styles>',
    'word/main.xml': `<w:document><w:body>${styled('Titel', 'The title')}${styled('berschrift1', 'First')}${styled('Round', 'body')}
      ${styled('Mine', 'Second')}${styled('Level', 'Third')}
      <w:p>${run('See ')}<w:hyperlink r:id="r1">${run('there')}</w:hyperlink>${field('"http://field.test/a b"')}${field('\\l "mark"')}
      <w:fldSimple w:instr="HYPERLINK http://simple.test/">${run('!')}</w:fldSimple><w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:moveFrom>${run('moved')}</w:moveFrom>
      <w:r><mc:AlternateContent><mc:Choice><w:txbxContent><w:p>${run('boxed')}</w:p></w:txbxContent></mc:Choice><mc:Fallback><w:txbxContent><w:p>${run('boxed')}</w:p></w:txbxContent></mc:Fallback></mc:AlternateContent></w:r></w:p>
      </w:body></w:document>`,
    'word/notes.xml': `<w:footnotes><w:footnote w:type="separator"><w:p><w:r><w:separator/></w:r></w:p></w:footnote><w:footnote><w:p>${run('a note')}</w:p></w:footnote></w:footnotes>`,
    'word/header1.xml': `<w:hdr><w:p>${run('header of each page')}</w:p></w:hdr>`,
    'word/footer1.xml': `<w:ftr><w:p>${run('footer of each page')}</w:p></w:ftr>`,
  });
  const { all, summary, warnings } = await summaryOf('OfficeOpenXML', docx);
  t.same(warnings, []);
  t.same(all, {
    Title: 'The title',
    Author: 'A. Author',
    Date: '2001-02-03',
    Keywords: 'one; two',
    Headings: 'First\nSecond\nThird',
    References: 'http://link.test/\nhttp://field.test/a b\nhttp://simple.test/',
    'Partial-Text': all['Partial-Text'],
  });
  t.equal(summary.text, 'The title\nFirst\nbody\nSecond\nThird\nboxed\nSee thereshownshown!\n\na note\n\n');
});

t.test(
  'XLSX (6.2) has strings in the order of the cells, numbers, formulas, comments and links',
  async (t) => {
    const xlsx = zipOf({
      'xl/workbook.xml':
        '<workbook><sheets><sheet name="Later" r:id="r2"/><sheet name="Sooner" r:id="r1"/></sheets></workbook>',
      'xl/_rels/workbook.xml.rels': rels({
        r1: ['worksheet', 'worksheets/sheet1.xml'],
        r2: ['worksheet', 'worksheets/sheet2.xml'],
      }),
      'xl/sharedStrings.xml':
        '<sst><si><t>wheat</t></si><si><r><t>r</t></r><r><t>ye</t></r><rPh><t>reading</t></rPh></si></sst>',
      'xl/worksheets/sheet2.xml':
        '<worksheet><sheetData><row><c t="s"><v>1</v></c><c><v>0.10000000000000001</v></c><c t="s"><v>7</v></c></row>' +
        '<row><c t="s"><v>0</v></c><c><f>SUM(A1:A2)*2</f><v>42</v></c><c t="str"><f>A1&amp;"x"</f><v>ax</v></c></row>' +
        '<row><c t="b"><v>1</v></c><c t="e"><v>#DIV/0!</v></c><c t="inlineStr"><is><t>in line</t></is></c></row></sheetData></worksheet>',
      'xl/worksheets/_rels/sheet2.xml.rels': rels({
        r1: ['hyperlink', 'http://link.test/'],
        r2: ['comments', '../comments1.xml'],
      }),
      'xl/comments1.xml': '<comments><comment><text><r><t>a remark</t></r></text></comment></comments>',
      'xl/worksheets/sheet1.xml': '<worksheet><row><c><v>-1E3</v></c></row></worksheet>',
    });
    const { all, summary, warnings } = await summaryOf('OfficeOpenXML', xlsx);
    t.same(warnings, []);
    t.equal(all.Headings, 'Later\nSooner');
    t.equal(all.References, 'http://link.test/');
    t.same((summary.text ?? '').split('\n'), [
      'rye\t0.1',
      'wheat\t42 =SUM(A1:A2)*2\tax =A1&"x"',
      'TRUE\tin line',
      'a remark',
      '',
      '-1000',
      '',
      '',
    ]);
  },
);

t.test(
  'PPTX (6.2) has slides in the order of the presentation, titles, notes after their slide',
  async (t) => {
    const box = (placeholder: string, text: string) =>
      `<p:sp><p:nvSpPr><p:nvPr><p:ph type="${placeholder}"/></p:nvPr></p:nvSpPr><p:txBody><a:p><a:r><a:t>${text}</a:t></a:r></a:p></p:txBody></p:sp>`;
    const pptx = zipOf({
      'ppt/presentation.xml':
        '<p:presentation><p:sldIdLst><p:sldId id="256" r:id="r2"/><p:sldId id="257" r:id="r1"/></p:sldIdLst></p:presentation>',
      'ppt/_rels/presentation.xml.rels': rels({
        r1: ['slide', 'slides/slide1.xml'],
        r2: ['slide', 'slides/slide2.xml'],
      }),
      'ppt/slides/slide1.xml': `<p:sld>${box('title', 'Second')}${box('body', 'more')}</p:sld>`,
      'ppt/slides/slide2.xml': `<p:sld>${box('ctrTitle', 'First')}${box('sldNum', '17')}${box('body', 'x<a:hlinkClick r:id="r1"/>')}</p:sld>`,
      'ppt/slides/_rels/slide2.xml.rels': rels({
        r1: ['hyperlink', 'http://link.test/'],
        r2: ['notesSlide', '../notesSlides/notesSlide1.xml'],
      }),
      'ppt/notesSlides/notesSlide1.xml': `<p:notes>${box('body', 'say this')}${box('title', 'no title')}</p:notes>`,
      'ppt/slides/slide3.xml': `<p:sld>${box('title', 'left in the archive')}</p:sld>`,
    });
    const { all, summary, warnings } = await summaryOf('OfficeOpenXML', pptx);
    t.same(warnings, []);
    t.equal(all.Title, 'First');
    t.equal(all.Headings, 'First\nSecond');
    t.equal(all.References, 'http://link.test/');
    t.equal(summary.text, 'First\nx\nsay this\nno title\n\nSecond\nmore\n\n');
  },
);

const CONTENT =
  '<office:body><office:text><text:tracked-changes><text:p>deleted words</text:p></text:tracked-changes>' +
  '<text:h>Head<text:s/>one</text:h><text:p>A <text:a xlink:href="http://link.test/">link</text:a><text:a xlink:href="#mark"/>' +
  '<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>a note</text:p></text:note-body></text:note>' +
  '<office:annotation><dc:creator>Reviewer</dc:creator><text:p>a comment</text:p></office:annotation>.</text:p>' +
  '<table:table table:name="T"><table:table-row><table:table-cell><text:p>cell</text:p></table:table-cell></table:table-row></table:table>' +
  '</office:text></office:body>';
const META =
  '<office:meta><meta:initial-creator>Who began</meta:initial-creator><dc:creator>Who changed</dc:creator><dc:title>T</dc:title>' +
  '<meta:keyword>one</meta:keyword><meta:keyword>two</meta:keyword><dc:language>de</dc:language><meta:creation-date>2001-02-03T04:05:06</meta:creation-date></office:meta>';

t.test(
  'OpenDocument (6.2): no deleted text; notes, links and properties, in a package or one file',
  async (t) => {
    const packed = zipOf({ 'meta.xml': `<m>${META}</m>`, 'content.xml': `<c>${CONTENT}</c>` });
    const flat = `<?xml version="1.0"?><office:document>${META}<office:master-styles><text:p>page header</text:p></office:master-styles>${CONTENT}</office:document>`;
    for (const [kind, body] of [
      ['package', packed],
      ['one file', flat],
    ] as const) {
      const { all, summary, warnings } = await summaryOf('OpenDocument', body);
      t.same(warnings, [], kind);
      t.match(all, {
        Title: 'T',
        Author: 'Who began',
        Keywords: 'one\ntwo',
        Language: 'de',
        Date: '2001-02-03',
        Headings: 'Head one',
        References: 'http://link.test/',
      });
      t.equal(summary.text, 'Head one\na note\nA link.\ncell\n\n', kind);
      t.notMatch(summary.description, /deleted/);
    }
  },
);

t.test('OpenDocument (6.2): names of sheets, formulas; titles of slides', async (t) => {
  const ods = zipOf({
    'content.xml':
      '<c><office:spreadsheet><table:table table:name="Prices"><table:table-row><table:table-cell><text:p>wheat</text:p></table:table-cell>' +
      '<table:table-cell table:formula="of:=SUM([.A1:.A2];[Other.B1])"><text:p>7</text:p></table:table-cell></table:table-row></table:table></office:spreadsheet></c>',
  });
  const sheet = await summaryOf('OpenDocument', ods);
  t.equal(sheet.all.Headings, 'Prices');
  t.equal(sheet.summary.text, 'wheat\t7\t=SUM(A1:A2;Other.B1)\n');
  const odp = zipOf({
    'content.xml':
      '<c><draw:page><draw:frame presentation:class="title"><text:p>First</text:p></draw:frame><draw:frame><text:p>words</text:p></draw:frame></draw:page></c>',
  });
  const slides = await summaryOf('OpenDocument', odp);
  t.equal(slides.all.Title, 'First');
  t.equal(slides.all.Headings, 'First');
  t.equal(slides.summary.text, 'First\nwords\n\n');
});

t.test('E-45 office documents: depth, circular and outward references are bounded', async (t) => {
  const deep = zipOf({ 'word/document.xml': `<w:p>${'<w:r>'.repeat(2000)}<w:t>x</w:t>` });
  t.match((await summaryOf('OfficeOpenXML', deep)).warnings[0], /nested deeper than 400 \(E-45\)/);
  const outward = zipOf({
    '_rels/.rels': rels({ a: ['officeDocument', '../../etc/passwd'] }),
    'xl/workbook.xml': '<w><sheet name="a" r:id="r"/><sheet name="b" r:id="r"/></w>',
    'xl/_rels/workbook.xml.rels': rels({ r: ['worksheet', 'workbook.xml'] }),
  });
  const { all, warnings } = await summaryOf('OfficeOpenXML', outward);
  t.same(warnings, []);
  t.equal(all.Headings, 'a\nb');
  t.match((await summaryOf('OfficeOpenXML', zipOf({ a: 'b' }))).warnings[0], /no main part/);
});

t.test('E-45 office documents: all members together are bounded', async (t) => {
  const members = await ZipMembers.open(zipOf({ a: 'x'.repeat(60), b: 'y'.repeat(60) }), 100);
  let read = '';
  const write = (text: string) => {
    read += text;
    return true;
  };
  await members.read('a', write);
  await t.rejects(members.read('b', write), /unpacks to too much \(E-45\)/);
  t.equal(read, 'x'.repeat(60));
  members.close();
});
