// Cases for a Broker that has loaded the fixture: exactly which objects words, operators and phrases find.
import { FIXTURE } from '../../../protocols/fixture/index.js';
import { checkNone, must, NotApplicable, should } from '../case.js';
import { checkFixtureUrls, isChangedUrl } from '../fixture.js';
import { printable } from '../printable.js';
import { type BrokerCase, PLAIN_FLAGS } from './context.js';
import { checkFinds, checkOnce, findsExactly, loaded, PART_FLAGS } from './fixture-checks.js';

const ALL = FIXTURE.map(({ url }) => url);
const GROUP = 'group-1 group-2 group-3 group-4';
const EBONY = 'case-1 case-2 case-3';
const NEAR = 'near-1 near-2 near-3 near-4 near-5';

/** What words, operators and phrases find in the fixture. All cases are skipped without it. */
export const fixtureQueryCases: readonly BrokerCase[] = [
  must('fixture/objects', 'BRK-2.18 BRK-4.10', 'RC; DB; M1.4')
    .title('each object of the fixture is found by a word of its URL, once')
    .does(loaded, (_, { objects }) => {
      const urls = objects.map(({ url }) => url);
      checkFixtureUrls(ALL, urls, 'fixture');
      checkOnce(urls, 'fixture');
    }),
  must('fixture/urls', 'BRK-1.10 BRK-4.3', 'RC; project choice')
    .title('URLs are sent unchanged: no object has a URL that only resembles one of the fixture')
    .does(loaded, (_, { objects }) => {
      const changed = objects.map(({ url }) => url).find(isChangedUrl);
      checkNone(changed, 'a URL that the fixture does not have', 'the URLs of the fixture', printable);
    }),
  must('fixture/dump', 'BRK-2.11', 'M1.2; RC')
    .title('#allb selects each object of the fixture, once')
    .does(loaded, async (context) => {
      const { all, shared, complete } = await context.survey();
      if (!complete) throw new NotApplicable('the dump is too large to be compared');
      checkFixtureUrls(ALL, all, '#allb');
      checkFixtureUrls([], shared, 'URLs that come twice in #allb');
    }),
  must('fixture/word', 'BRK-2.20', 'M1.4; QH')
    .title('a word finds the objects that have it in any attribute')
    .does(
      findsExactly,
      PLAIN_FLAGS,
      'fail',
      ['fxamber', GROUP],
      ['fxdamask', 'group-2 group-4'],
      ['fxmarigold', 'error-0'],
      ['fxlazuli', ''],
      ['fxmarigoxx', ''],
    ),
  must('fixture/bookkeeping', 'BRK-2.20', 'inferred: G')
    .title('a word or a phrase without a tag searches bookkeeping attributes, too')
    .does(loaded, async (context) => {
      await checkFinds(context, `${PLAIN_FLAGS} #END gatherer`, ALL, 'fail');
      await checkFinds(context, `${PLAIN_FLAGS} #END "conformance fixture"`, ALL, 'skip');
    }),
  must('fixture/long-value', 'BRK-2.20', 'M1.4; QH')
    .title(
      'words are found at the begin, in the middle and at the end of values of 70 000 bytes, and in long lines',
    )
    .does(
      findsExactly,
      PLAIN_FLAGS,
      'skip',
      ['w3000', 'long'],
      ['w7000', 'long'],
      ['w11000', 'long'],
      ['"w1600 w1601"', 'long'],
      ['"w7000 w7001"', ''],
    ),
  must('fixture/and', 'BRK-2.21', 'M1.2; M1.4')
    .title('and: both words, in one attribute or in two')
    .does(
      findsExactly,
      PLAIN_FLAGS,
      'fail',
      ['fxamber and fxcobalt', 'group-1 group-3 group-4'],
      ['fxcobalt and fxdamask', 'group-4'],
      ['fxcobalt and fxamber and fxdamask', 'group-4'],
      ['fxamber and fxebony', ''],
    ),
  must('fixture/or', 'BRK-2.21', 'M1.2; M1.4')
    .title('or: either word')
    .does(
      findsExactly,
      PLAIN_FLAGS,
      'fail',
      ['fxcobalt or fxdamask', GROUP],
      ['fxdamask or fxmarigold', 'group-2 group-4 error-0'],
      ['fxebony or fxlazuli or fxdamask', `${EBONY} group-2 group-4`],
    ),
  must('fixture/not', 'BRK-2.13 BRK-2.21', 'M1.2')
    .title('not: the objects that do not have the next word')
    .does(
      findsExactly,
      PLAIN_FLAGS,
      'skip',
      ['fxamber and not fxcobalt', 'group-2'],
      ['fxamber and not fxdamask', 'group-1 group-3'],
      ['not fxcobalt and fxdamask', 'group-2'],
      ['fxamber and not fxcobalt and not fxdamask', ''],
      ['not fxcobalt and not fxsize and fxamber', 'group-2'],
      ['fxamber and not fxlazuli', GROUP],
    ),
  must('fixture/not-group', 'BRK-2.13', 'M1.2')
    .title('not before a group negates the group, not its first word')
    .does(
      findsExactly,
      PLAIN_FLAGS,
      'skip',
      ['fxamber and not (fxcobalt and fxdamask)', 'group-1 group-2 group-3'],
      ['fxamber and not (fxcobalt or fxebony)', 'group-2'],
      ['not (fxcobalt or fxsize) and fxdamask', 'group-2'],
      ['fxamber and not (fxcobalt and not fxdamask)', 'group-2 group-4'],
      ['fxamber and not (not fxdamask)', 'group-2 group-4'],
    ),
  must('fixture/not-next', 'BRK-2.13', 'M1.2')
    .title('not applies to the next word only')
    .does(
      findsExactly,
      PLAIN_FLAGS,
      'skip',
      ['fxamber and (not fxcobalt or fxdamask)', 'group-2 group-4'],
      ['fxamber and (not fxdamask or fxcobalt)', 'group-1 group-3 group-4'],
    ),
  must('fixture/except', 'BRK-2.13', 'M1.2; inferred')
    .title('except: the first word without the second')
    .does(
      findsExactly,
      PLAIN_FLAGS,
      'skip',
      ['fxamber except fxcobalt', 'group-2'],
      ['fxcobalt except fxdamask', 'group-1 group-3'],
      ['fxcobalt except fxamber', ''],
      ['fxamber except fxlazuli', GROUP],
    ),
  must('fixture/except-groups-right', 'BRK-2.12 BRK-2.13', 'inferred')
    .title('except groups to the right: a except b except c is a except (b except c)')
    .does(
      findsExactly,
      PLAIN_FLAGS,
      'skip',
      ['fxamber except fxcobalt except fxdamask', 'group-2 group-4'],
      ['fxamber except fxdamask or fxcobalt', ''],
      ['fxamber except fxcobalt and fxdamask', 'group-1 group-2 group-3'],
    ),
  must('fixture/grouping', 'BRK-2.12', 'inferred; a deployed help page')
    .title('operators have no precedence and group to the right')
    .does(
      findsExactly,
      PLAIN_FLAGS,
      'fail',
      ['fxdamask and fxcobalt or fxebony', 'group-4'],
      ['fxebony or fxdamask and fxcobalt', `${EBONY} group-4`],
      ['fxdamask and fxlazuli or fxebony or fxsize', ''],
    ),
  must('fixture/group', 'BRK-2.4 BRK-2.12', 'M1.2; DB')
    .title('parentheses group')
    .does(
      findsExactly,
      PLAIN_FLAGS,
      'fail',
      ['(fxdamask and fxcobalt) or fxebony', `group-4 ${EBONY}`],
      ['(fxebony or fxdamask) and fxcobalt', 'group-4'],
      ['((fxdamask or fxlazuli) and (fxcobalt or (fxebony)))', 'group-4'],
    ),
  should('fixture/side-by-side', 'BRK-2.13a', 'RC; DB; project choice')
    .title('words without an operator are joined by and')
    .does(
      findsExactly,
      PLAIN_FLAGS,
      'skip',
      ['fxamber fxcobalt', 'group-1 group-3 group-4'],
      ['fxamber not fxcobalt', 'group-2'],
      ['fxdamask fxcobalt or fxebony', 'group-4'],
    ),
  must('fixture/phrase', 'BRK-2.5 BRK-2.20', 'QH; RC; DB')
    .title('a phrase is its words side by side, in their order')
    .does(
      findsExactly,
      PLAIN_FLAGS,
      'skip',
      ['"fxamber fxbasalt"', 'group-1 group-4'],
      ['"fxjasper fxlapis"', 'phrase-1'],
      ['"fxlapis fxjasper"', 'phrase-2'],
      ['"fxjasper and fxlapis"', 'phrase-3'],
      ['"fxbasalt fxamber"', ''],
    ),
  must('fixture/phrase-lines', 'BRK-2.20 BRK-2.5', 'QH; inferred: G')
    .title('words of two lines or of two attributes are not a phrase')
    .does(
      findsExactly,
      PLAIN_FLAGS,
      'skip',
      ['fxfirst and fxsecond', 'lines'],
      ['"fxfirst fxsecond"', ''],
      ['"line second"', ''],
      ['"fxbasalt fxcobalt"', ''],
      ['"fxamber fxcobalt"', 'group-3'],
      ['"fxdamask fxamber"', ''],
    ),
  must('fixture/phrase-blanks', 'BRK-2.20', 'QH; inferred: G; project choice')
    .title('runs of white space in a phrase and in a line are equal')
    .does(
      findsExactly,
      PLAIN_FLAGS,
      'skip',
      ['"near duplicate"', NEAR],
      ['"near  duplicate"', NEAR],
      ['"near duplicat"', 'near-6'],
      ['"fxblanks of a title"', 'blanks'],
    ),
  should('fixture/phrase-hyphen', 'BRK-2.20', 'project choice')
    .title('a hyphen between two words equals a blank, in a query and in an object')
    .does(
      findsExactly,
      PART_FLAGS,
      'skip',
      ['near-duplicate', NEAR],
      ['"size 1"', 'size-1'],
      ['fxmarks-100', 'marks'],
    ),
  should('fixture/quoted-operator', 'BRK-2.6', 'project choice')
    .title('an operator word or a keyword in quotes is a word')
    .does(
      findsExactly,
      PLAIN_FLAGS,
      'skip',
      ['"and" and fxjasper', 'phrase-3'],
      ['fxjasper except "and"', 'phrase-1 phrase-2 phrase-4'],
      ['fxjasper and "not"', ''],
    ),
];
