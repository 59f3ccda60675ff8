// Cases for a Broker that has loaded the fixture: exactly what matches, by flags, patterns and bytes.
import { FIXTURE } from '../../../protocols/fixture/index.js';
import { must, type Procedure, should } from '../case.js';
import { checkFixtureUrls } from '../fixture.js';
import { checkNotRefused } from './checks.js';
import { type BrokerCase, type BrokerContext, PLAIN_FLAGS } from './context.js';
import {
  checkCount,
  checkFinds,
  findsExactly,
  loaded,
  PART_FLAGS,
  SENSITIVE_FLAGS,
  timed,
  urlNamed,
} from './fixture-checks.js';
import { textsOf } from './reply.js';

const HAZEL = 'word-1 word-2 word-3 word-4 word-5';
const EBONY = 'case-1 case-2 case-3';

/** Times around 2^31 and 2^32, as far as a flag may name them. */
const TIMES = [0x7fff_fffd, 0x7fff_fffe, 0x7fff_ffff, 0x8000_0000, 2_999_999_999, 3_000_000_000, 0xffff_fffe];

const errors = (n: number) => `${PART_FLAGS} #index error ${n}`;

/** What matches in the fixture. All cases are skipped without it. */
export const fixtureMatchingCases: readonly BrokerCase[] = [
  must('fixture/case', 'BRK-3.1 BRK-3.7', 'S; M1.4; RC')
    .title('case is ignored unless the flag says otherwise, in queries and in objects')
    .does(
      findsExactly,
      PLAIN_FLAGS,
      'fail',
      ['fxebony', EBONY],
      ['FXEBONY', EBONY],
      ['FxEbOnY', EBONY],
      ['FXEBONY', EBONY, '#opaque #index case insenstive'],
      ['fxebony', EBONY, '#opaque #index case INSENSTIVE'],
      ['fxEbony', EBONY, '#opaque'],
      ['fxebony', 'case-1', SENSITIVE_FLAGS],
      ['FXEBONY', 'case-2', SENSITIVE_FLAGS],
      ['Fxebony', 'case-3', SENSITIVE_FLAGS],
      ['FxEbOnY', '', SENSITIVE_FLAGS],
    ),
  should('fixture/insenstive', 'BRK-3.1 BRK-3.6', 'S; project choice')
    .title(
      'the spelling of the developer notes is the same flag: it overrides an earlier one without a notice',
    )
    .does(loaded, async (context) => {
      const ask = (spelling: string) =>
        context.ask(`#USER ${SENSITIVE_FLAGS} #index case ${spelling} #END fxEbony`);
      const notices = textsOf(await ask('insensitive'), 101).length;
      const reply = await ask('insenstive');
      checkNotRefused(reply, '#index case insenstive');
      const urls = reply.objects.map(({ url }) => url);
      checkFixtureUrls(EBONY.split(' ').map(urlNamed), urls, '#index case insenstive');
      checkCount(textsOf(reply, 101).length, notices, 'notices about #index case insenstive');
    }),
  must('fixture/matchword', 'BRK-2.20', 'S; M1.4')
    .title('matchword: no letter before or after the word')
    .does(
      findsExactly,
      PLAIN_FLAGS,
      'skip',
      ['fxhazel', 'word-1 word-5'],
      ['fxhazelnut', 'word-2'],
      ['witchfxhazel', 'word-3'],
      ['hazel', ''],
      ['fxhaze', ''],
    ),
  must('fixture/word-letters', 'BRK-2.20', 'M1.4; project choice')
    .title('matchword: a letter beyond ASCII beside the word is a letter, in UTF-8 and in Latin-1')
    .does(
      findsExactly,
      PLAIN_FLAGS,
      'skip',
      ['Gr\xc3\xb6\xc3\x9fe', 'utf-8 latin-1'],
      ['Gr', ''],
      ['\xc3\x9fe', ''],
      ['\xe4\xba\xac', ''],
      ['\xe6\x9d\xb1\xe4\xba\xac', 'utf-8'],
      ['fxutf', 'utf-8'],
    ),
  should('fixture/parts', 'BRK-2.20', 'M1.4 (Glimpse)')
    .title('without matchword a word is found at the begin, at the end and within others')
    .does(
      findsExactly,
      PART_FLAGS,
      'skip',
      ['fxhazel', HAZEL],
      ['hazelnut', 'word-2 word-4'],
      ['chfxhaz', 'word-3 word-4'],
      ['title : hazelnut', 'word-2 word-4'],
      ['"fxjasper fxlapis"', 'phrase-1 phrase-4'],
      ['"near duplicat"', 'near-1 near-2 near-3 near-4 near-5 near-6'],
    ),
  must('fixture/errors', 'BRK-2.23', 'S; M1.4 (Glimpse)')
    .title('error n allows n spelling errors and no more')
    .does(
      findsExactly,
      errors(1),
      'skip',
      ['fxmarigold', 'error-0', errors(0)],
      ['fxmarigoxd', '', errors(0)],
      ['fxmarigoxd', 'error-0'],
      ['fxmaxigoxd', ''],
      ['fxmaxigoxd', 'error-0', errors(2)],
      ['fxmaxigxxd', '', errors(2)],
      ['fxmaxigxxd', 'error-0', errors(3)],
    ),
  must('fixture/error-kinds', 'BRK-2.23', 'S; M1.4; G')
    .title('an insertion, a deletion and a substitution are one error each; two exchanged letters are two')
    .does(
      findsExactly,
      errors(1),
      'skip',
      ['fxmarixgold', 'error-0'],
      ['fxmarigld', 'error-0'],
      ['fxmariqold', 'error-0'],
      ['fxmarixxgold', ''],
      ['fxmargld', ''],
      ['fxmairgold', ''],
      ['fxmairgold', 'error-0', errors(2)],
      ['fxmarixxgold', 'error-0', errors(2)],
      ['fxmargld', 'error-0', errors(2)],
    ),
  must('fixture/error-length', 'BRK-2.23', 'project choice')
    .title(
      'a term has at least one character that is no error, so that a term of one character has no errors',
    )
    .does(
      findsExactly,
      errors(1),
      'skip',
      ['~', 'marks every-byte ~p'],
      ['~', 'marks every-byte ~p', errors(8)],
      ['\xe6\x9d\xb1', 'utf-8'],
      ['~~', 'marks every-byte ~p', errors(8)],
    ),
  must('fixture/error-flags', 'BRK-2.23', 'S; M1.4 (Glimpse)')
    .title('spelling errors combine with operators, tags and phrases')
    .does(
      findsExactly,
      errors(1),
      'skip',
      ['fxmarigoxd and spelling', 'error-0'],
      ['title : fxmarigoxd', 'error-0'],
      ['description : fxmarigoxd', ''],
      ['"fxjaspex fxlapislazuli"', 'phrase-4'],
    ),
  should('fixture/patterns', 'BRK-2.22', 'G; DB; project choice')
    .title('pattern characters: a dot, a number sign, classes, line ends, either')
    .does(
      findsExactly,
      PART_FLAGS,
      'skip',
      ['fxmari.old', 'error-0'],
      ['fxmari..old', ''],
      ['fxmari#old', 'error-0'],
      ['"fxmari[a-h]old"', 'error-0'],
      ['"fxmari[^a-h]old"', ''],
      ['"^fxlapis"', 'phrase-2'],
      ['"hazel$"', 'word-3 word-5'],
      ['"fxmarigold|fxdamask"', 'error-0 group-2 group-4'],
    ),
  should('fixture/malformed-patterns', 'BRK-2.22', 'project choice')
    .title('a term that is not a well-formed pattern means its characters, without a refusal')
    .does(
      findsExactly,
      PART_FLAGS,
      'skip-first',
      ['"fxmari[a-h]old"', 'error-0'],
      ['"(y"', 'marks'],
      ['"$(x"', 'marks'],
      ['"\\$\\(x"', 'marks'],
      ['"y)"', 'marks'],
      ['"[z"', 'marks'],
      ['"z]"', 'marks'],
      ['"a|"', 'marks'],
      ['"*fxmarigold"', ''],
      ['"fxmari()gold"', ''],
      ['"fxmari[h-a]old"', ''],
      ['"fxmarigold|"', ''],
    ),
  should('fixture/literal', 'BRK-2.22 BRK-2.7', 'RC; G; project choice')
    .title('a backslash takes the next character literally')
    .does(
      findsExactly,
      PART_FLAGS,
      'skip',
      ['"fxmari\\.old"', ''],
      ['"a\\|b"', 'marks'],
      ['"\\[z\\]"', 'marks'],
      ['"fxjasper\\ fxlapis"', 'phrase-1', PLAIN_FLAGS],
    ),
  must('fixture/quote', 'BRK-2.7', 'RC; project choice')
    .title('a quote after a backslash is a quote of the text')
    .does(
      findsExactly,
      PART_FLAGS,
      'skip',
      ['"\\"quoted\\""', 'marks'],
      ['"\\"fxmarks"', ''],
      ['"\\"quoted\\"" and fxmarks', 'marks'],
    ),
  must('fixture/bytes', 'BRK-2.20 BRK-1.10', 'RC; project choice')
    .title('words with bytes above 127 find what has the same bytes')
    .does(
      findsExactly,
      PART_FLAGS,
      'skip',
      ['\xe9t\xe9', 'latin-1'],
      ['"\xe9t\xe9 \xa0\xff"', 'latin-1'],
      ['\xe6\x9d\xb1\xe4\xba\xac', 'utf-8'],
      ['"\xf0\x9f\xa6\x86 fxutf"', 'utf-8'],
    ),
  should('fixture/encodings', 'BRK-1.10', 'RC; project choice')
    .title('a word in UTF-8 or in Latin-1 finds texts in either')
    .does(
      findsExactly,
      PART_FLAGS,
      'skip',
      ['Gr\xf6\xdfe', 'utf-8 latin-1'],
      ['Gr\xc3\xb6\xc3\x9fe', 'utf-8 latin-1'],
      ['GR\xd6\xdfE', 'utf-8 latin-1'],
      ['\xc3\xa9t\xc3\xa9', 'latin-1'],
    ),
  should('fixture/since', 'BRK-3.8', 'RC; project choice')
    .title('#since selects the objects whose Update-Time is greater, also around 2^31 and 2^32')
    .does(laterThan, TIMES),
];

/** Queries the fixture since each of these times. */
function laterThan(times: readonly number[]): Procedure<BrokerContext> {
  return timed(async (context) => {
    for (const time of times) {
      const later = FIXTURE.filter(({ updateTime }) => updateTime > time).map(({ url }) => url);
      await checkFinds(context, `${PLAIN_FLAGS} #since ${time} #END fixture`, later, 'skip');
    }
  });
}
