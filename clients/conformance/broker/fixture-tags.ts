// Cases for a Broker that has loaded the fixture: exactly which objects tags and select operators find.
import { FIXTURE } from '../../../protocols/fixture/index.js';
import { must, should } from '../case.js';
import { fixtureObjects } from '../fixture.js';
import { type BrokerCase, PLAIN_FLAGS } from './context.js';
import {
  checkFinds,
  findsExactly,
  findsTimes,
  loaded,
  PART_FLAGS,
  SENSITIVE_FLAGS,
} from './fixture-checks.js';

const EBONY = 'case-1 case-2 case-3';

/** Returns the URLs that match a pattern in any case. */
function having(pattern: string): readonly string[] {
  return FIXTURE.map(({ url }) => url).filter((url) => new RegExp(pattern, 'i').test(url));
}

/** What queries about one attribute find in the fixture. All cases are skipped without it. */
export const fixtureTagCases: readonly BrokerCase[] = [
  must('fixture/tag', 'BRK-2.14', 'M1.4; QH')
    .title('tag : value looks at that attribute only')
    .does(
      findsExactly,
      PART_FLAGS,
      'skip',
      ['title : fxamber', 'group-1 group-2'],
      ['title : fxbasalt', 'group-1 group-3'],
      ['description : fxamber', 'group-3 group-4'],
      ['title:fxbasalt and description:fxamber', 'group-3'],
      ['title : "fxamber fxbasalt"', 'group-1'],
      ['keywords : fxamber', ''],
      ['title : fxcobalt or description : fxdamask', 'group-2 group-4'],
      ['fxamber and title : fxcobalt', 'group-4'],
    ),
  must('fixture/tag-group', 'BRK-2.14', 'DB; project choice')
    .title('a tag before a group holds for every term of the group')
    .does(
      findsExactly,
      PART_FLAGS,
      'skip-first',
      ['title : fxamber and title : fxbasalt', 'group-1'],
      ['title : (fxamber and fxbasalt)', 'group-1'],
      ['Title: (fxbasalt AND fxamber) OR fxdamask', 'group-1 group-2 group-4'],
      ['title : (fxamber or fxcobalt)', 'group-1 group-2 group-4'],
      ['title : (fxebony or fxcobalt)', `${EBONY} group-4`],
      ['description:(fxamber and (fxbasalt or fxcobalt))', 'group-3 group-4'],
      ['description:(fxamber and (fxdamask or fxebony))', ''],
    ),
  must('fixture/tag-group-not', 'BRK-2.14 BRK-2.13', 'DB; project choice')
    .title('a tag before a group holds for its negated terms, too, and not for those with a tag of their own')
    .does(
      findsExactly,
      PART_FLAGS,
      'skip-first',
      ['title : fxamber and not title : fxbasalt', 'group-2'],
      ['title : (fxamber and not fxbasalt)', 'group-2'],
      ['title : (fxbasalt and not fxamber)', 'group-3'],
      ['title : (fxbasalt and description : fxcobalt)', 'group-1 group-3'],
    ),
  must('fixture/tag-names', 'BRK-2.14', 'M1.4; QH')
    .title('tags are whole names, also with digits, underlines, dots, and those of embedded objects')
    .does(
      findsExactly,
      PART_FLAGS,
      'skip',
      ['author-1 : one', 'names'],
      ['author-2 : one', ''],
      ['author : one', ''],
      ['Fixture_Name.1 : underline or Fixture_Name.1 : below', 'names'],
      ['embed<1>-title : first', 'names'],
      ['embed<2>-title : first', ''],
      ['title : embedded', ''],
      ['x : letter', 'names'],
      ['name : letter', ''],
    ),
  must('fixture/tag-any-case', 'BRK-2.16', 'inferred: G, RC')
    .title('tags are compared without regard to case, even if the value is not')
    .does(
      findsExactly,
      PART_FLAGS,
      'skip',
      ['TITLE : fxamber', 'group-1 group-2'],
      ['mixed-case : capitals', 'names'],
      ['MIXED-CASE : capitals', 'names'],
      ['tITLE : fxebony', 'case-1', SENSITIVE_FLAGS],
    ),
  must('fixture/tag-flags', 'BRK-2.14 BRK-2.20 BRK-1.10', 'M1.4; QH')
    .title('flags hold for values after a tag, which may have bytes above 127')
    .does(
      findsExactly,
      PLAIN_FLAGS,
      'skip',
      ['title : fxhazel', 'word-1 word-5'],
      ['title : hazel', ''],
      ['title : FXHAZEL', 'word-1 word-5'],
      ['title : FXHAZEL', '', SENSITIVE_FLAGS],
      ['title : \xe9t\xe9', 'latin-1'],
    ),
  must('fixture/tag-equals', 'BRK-2.15', 'RC; G')
    .title('a quoted "tag=value" looks at that attribute only')
    .does(
      findsExactly,
      PART_FLAGS,
      'skip',
      ['"title=fxamber"', 'group-1 group-2'],
      ['"description=fxamber"', 'group-3 group-4'],
      ['"title=fxamber fxbasalt"', 'group-1'],
      ['"description=fxamber" and fxdamask', 'group-4'],
    ),
  must('fixture/url', 'BRK-2.18 BRK-2.14', 'RC; DB; M1.4')
    .title('url : word looks at the URL only')
    .does(loaded, async (context) => {
      for (const word of ['times', '4294967296', 'near', 'urn', 'https', 'fixture']) {
        await checkFinds(context, `${PLAIN_FLAGS} #END url : ${word}`, having(`\\b${word}\\b`), 'skip');
      }
      await checkFinds(context, `${PLAIN_FLAGS} #END url : fxamber`, [], 'skip');
    }),
  should('fixture/url-parts', 'BRK-2.18 BRK-2.14 BRK-2.20', 'RC; DB; M1.4 (Glimpse)')
    .title('url : "..." finds a part of the URL, whatever its characters are')
    .does(loaded, async (context) => {
      for (const part of ['/times/', 'times/4294967296', '/values/near', 'fixture:p', '/p?a=1', 'ixtur']) {
        const pattern = part.replace('?', '\\?');
        await checkFinds(context, `${PART_FLAGS} #END url : "${part}"`, having(pattern), 'skip');
      }
    }),
  should('fixture/exact', 'BRK-2.17', 'M1.2; project choice')
    .title('exact compares the whole value; one line end at its end does not count')
    .does(
      findsExactly,
      '#opaque',
      'skip',
      ['title exact "near duplicate"', 'near-1 near-5', SENSITIVE_FLAGS],
      ['title exact "Near duplicate"', 'near-2', SENSITIVE_FLAGS],
      ['title exact "near duplicate"', 'near-1 near-2 near-5'],
      ['title exact "near duplicate "', 'near-3'],
      ['title exact "near  duplicate"', 'near-4'],
      ['title exact "near duplicat"', 'near-6'],
      ['title exact fxamber', 'group-2'],
      ['title exact "}"', 'soif'],
    ),
  should('fixture/exact-url', 'BRK-2.17 BRK-2.18', 'M1.2; project choice')
    .title('url exact "..." finds that object and no other with a similar URL')
    .does(loaded, async (context) => {
      for (const { url } of [...fixtureObjects('p'), ...fixtureObjects('P'), ...fixtureObjects('times/')]) {
        await checkFinds(context, `${SENSITIVE_FLAGS} #END url exact "${url}"`, [url], 'skip');
      }
    }),
  should('fixture/less-than', 'BRK-2.17', 'M1.2; project choice')
    .title('less-than and greater-than compare numbers, and equal ones do not match')
    .does(
      findsExactly,
      '#opaque',
      'skip',
      ['fixture-size less-than 10', 'size-1'],
      ['fixture-size less-than 11', 'size-1 size-2'],
      ['fixture-size greater-than 10', 'size-3 size-4'],
      ['fixture-size greater-than 9', 'size-2 size-3 size-4'],
      ['fixture-size less-than 9', ''],
      ['fixture-size greater-than 100', ''],
      ['Fixture-Size less-than 10.5', 'size-1 size-2'],
      ['title greater-than witch', 'word-3 word-4 soif'],
    ),
  should('fixture/less-than-times', 'BRK-2.17', 'M1.2; project choice')
    .title('less-than and greater-than compare numbers above 2^31 and 2^32')
    .does(
      findsTimes,
      '#opaque',
      ['update-time less-than 2147483648', '2147483646 2147483647'],
      ['update-time greater-than 4294967296', '4294967297'],
    ),
  should('fixture/regexp', 'BRK-2.17', 'M1.2; project choice')
    .title('regexp looks at each line of one attribute')
    .does(
      findsExactly,
      '#opaque',
      'skip',
      ['fixture-size regexp "^1.$"', 'size-2 size-3'],
      ['fixture-size regexp "^(9|100)$"', 'size-1 size-4'],
      ['title regexp "^fxlapis"', 'phrase-2'],
      ['description regexp "^fxiris [bc]$"', 'matches-2 matches-3'],
      ['title regexp "ebony"', EBONY],
      ['title regexp "ebony"', 'case-1 case-3', SENSITIVE_FLAGS],
    ),
];
