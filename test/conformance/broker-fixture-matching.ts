// Mutants of a Broker with the fixture: case, whole words, spelling errors, patterns, bytes, times, limits.
import { type BrokerMutant, misreading, misreadings, refusing } from './broker-builders.js';

const HAZEL = /#index matchword #END fxhazel\r/;

const FLAGS: readonly BrokerMutant[] = [
  ...misreadings('BRK-3.1', ['fixture/case'], {
    'queries in capitals find nothing': [/#END FXEBONY\r/, '#END zzyzxplugh\r'],
    'objects in capitals are not found': [/insensitive(.*) #END fxebony\r/, 'sensitive$1 #END fxebony\r'],
    'case insensitive lowers the query only': [
      /case insensitive(.*) #END FXEBONY\r/,
      'case sensitive$1 #END fxebony\r',
    ],
    'case sensitive is ignored, with the fixture': [/case sensitive/, 'case insensitive'],
    'case sensitive looks at the first letter': [/#index case sensitive #END FXEBONY/, '#END not fxebony'],
    'case sensitive lowers the query': [/case sensitive #END FXEBONY/, 'case sensitive #END fxebony'],
    'case counts without a flag, with the fixture': [
      /#opaque (#END fxEbony)/,
      '#opaque #index case sensitive $1',
    ],
    'insenstive means sensitive': [/insenstive/i, 'sensitive'],
    'insenstive is known in small letters only': [/INSENSTIVE/, 'sensitive'],
    'a word in odd case finds itself in odd case only': [/insensitive(.*#END FxEbOnY)/, 'sensitive$1'],
  }),
  refusing('insenstive is malformed', 'BRK-3.1', /insenstive/, ['fixture/case', 'fixture/insenstive']),
  ...misreadings('BRK-3.1', ['fixture/insenstive'], {
    'insenstive is an unknown flag': [/case insenstive/, 'case zzyzx'],
    'insenstive is ignored in silence': [/#index case insenstive /, ''],
    'insenstive does not override': [/(case sensitive) #index case insenstive/, '$1'],
    'insenstive is known with a notice': [/case insenstive/, 'case insensitive #index case zzyzx'],
  }),
  ...misreadings('BRK-2.20', ['fixture/matchword'], {
    'matchword is ignored, with the fixture': [/#index matchword (#END (?:fxhazel|hazel|fxhaze)\r)/, '$1'],
    'matchword looks at the begin of a word only': [HAZEL, '#END fxhazel except witchfxhazel\r'],
    'matchword looks at the end of a word only': [HAZEL, '#END fxhazel except fxhazelnut\r'],
    'matchword looks at the begin of other words, too': [/#index matchword (#END fxhaze\r)/, '$1'],
    'matchword looks at the end of other words, too': [/#index matchword (#END hazel\r)/, '$1'],
    'a parenthesis is a letter of a word': [HAZEL, '#index matchword #END fxhazel except alone\r'],
    'matchword wants the whole value': [HAZEL, '#END title exact fxhazel\r'],
    'matchword wants the word at the begin of the value': [HAZEL, '#END title : "^fxhazel"\r'],
    'matchword finds nothing in longer words': [/#END fxhazelnut\r/, '#END zzyzxplugh\r'],
    'matchword finds the begin of a word that is longer': [/#END witchfxhazel\r/, '#END witchfxhazel#\r'],
    'matchword is ignored for words that are a part of a longer one': [
      /#index matchword (#END witchfxhazel\r)/,
      '$1',
    ],
  }),
  ...misreadings('BRK-2.20', ['fixture/word-letters'], {
    'letters beyond ASCII are no letters of words': [
      /#index matchword (#END (?:Gr|\xc3\x9fe|\xe4\xba\xac)\r)/,
      '$1',
    ],
    'a letter beyond ASCII after a word is not one of it': [/#index matchword (#END Gr\r)/, '$1'],
    'a letter beyond ASCII before a word is not one of it': [/#index matchword (#END \xc3\x9fe\r)/, '$1'],
    'letters are those of Latin-1': [/#index matchword (#END \xe4\xba\xac\r)/, '$1'],
    'in Latin-1 letters beyond ASCII are no letters of words': [
      /#index matchword #END Gr\r/,
      '#END Gr except fxutf\r',
    ],
    'whole words have no letters beyond ASCII': [
      /matchword #END Gr\xc3\xb6\xc3\x9fe\r/,
      'matchword #END zzyzxplugh\r',
    ],
    'whole words have no letters beyond Latin-1': [
      /matchword #END \xe6\x9d\xb1\xe4\xba\xac\r/,
      'matchword #END zzyzxplugh\r',
    ],
  }),
  ...misreadings('BRK-2.20', ['fixture/parts'], {
    'words match as a whole only': [
      /insensitive (#END (?:fxhazel|hazelnut|chfxhaz)\r)/,
      'insensitive #index matchword $1',
    ],
    'words match at the begin only': [
      /insensitive #END fxhazel\r/,
      'insensitive #END fxhazel except witchfxhazel\r',
    ],
    'words match at the end only': [
      /insensitive #END fxhazel\r/,
      'insensitive #END fxhazel except fxhazelnut\r',
    ],
    'words do not match within': [/#END chfxhaz\r/, '#END zzyzxplugh\r'],
    'words of a phrase are whole words': [/(#END "(?:fxjasper|near) \w+")/, '#index matchword $1'],
    'the last word of a phrase is whole': [/#END "near duplicat"/, '#END title exact "near duplicat"'],
    'words after a tag match as a whole only': [
      /#END title : hazelnut/,
      '#index matchword #END title : hazelnut',
    ],
    'words after a tag match at the begin only': [/#END title : hazelnut/, '#END title : "^hazelnut"'],
  }),
  ...misreadings('BRK-2.23', ['fixture/errors'], {
    '#index error n allows n+1': [/index error (\d)/, (_, n) => `index error ${Number(n) + 1}`],
    '#index error n allows n-1': [/index error ([1-9])/, (_, n) => `index error ${Number(n) - 1}`],
    '#index error n allows one if any': [/index error [2-9]/, 'index error 1'],
    '#index error n allows any number': [/index error [1-9]/, 'index error 8'],
    '#index error 0 allows one': [/index error 0/, 'index error 1'],
    '#index error is ignored': [/#index error \d /, ''],
    'spelling errors make all objects match': [/#index error [1-9] #END fx\w+\r/, '#END #allb\r'],
    'a correct word is not found with error 0': [/#index error 0 #END fxmarigold\r/, '#END zzyzxplugh\r'],
  }),
  ...misreadings('BRK-2.23', ['fixture/error-kinds'], {
    'spelling errors are substitutions only': [/#index error 1 (#END fxmari(?:xgold|gld)\r)/, '$1'],
    'spelling errors are insertions only': [/#index error 1 (#END fxmari(?:gld|qold)\r)/, '$1'],
    'spelling errors are deletions only': [/#index error 1 (#END fxmari(?:xgold|qold)\r)/, '$1'],
    'letters too many are not an error': [/#index error 1 (#END fxmarixgold\r)/, '$1'],
    'letters too few are not an error': [/#index error 1 (#END fxmarigld\r)/, '$1'],
    'two exchanged letters are one error': [/error 1 (#END fxmairgold)/, 'error 2 $1'],
    'two exchanged letters are no error': [/error 2 (#END fxmairgold)/, 'error 1 $1'],
    'a letter that comes twice is one error': [/error 1 (#END fxmarixxgold)/, 'error 2 $1'],
    'letters left out are one error': [/error 1 (#END fxmargld)/, 'error 2 $1'],
    'insertions are one error at most': [/error 2 (#END fxmarixxgold)/, 'error 1 $1'],
    'deletions are one error at most': [/error 2 (#END fxmargld)/, 'error 1 $1'],
  }),
  ...misreadings('BRK-2.23', ['fixture/error-length'], {
    'errors are not limited by the length of the term': [/#END (?:~~?|\xe6\x9d\xb1)\r/, '#END #allb\r'],
    'a term of one character may have an error': [/error 1 #END ~\r/, 'error 1 #END #allb\r'],
    'many errors are not limited by the length': [/error 8 #END ~\r/, 'error 8 #END #allb\r'],
    'as many errors as the term has characters are allowed': [/#END ~~\r/, '#END #allb\r'],
    'the length of a term is that of its bytes': [/#END \xe6\x9d\xb1\r/, '#END #allb\r'],
    'a term of one character finds nothing with errors': [/#END ~\r/, '#END zzyzxplugh\r'],
    'a term shorter than its errors finds nothing': [/error 8 #END ~~\r/, 'error 8 #END zzyzxplugh\r'],
  }),
  ...misreadings('BRK-2.23', ['fixture/error-flags'], {
    'spelling errors do not hold for operators': [/#index error 1 (#END \w+ and)/, '$1'],
    'spelling errors do not hold for tags': [/#index error 1 (#END title)/, '$1'],
    'with spelling errors tags are ignored': [/(error 1 #END )description : /, '$1'],
    'spelling errors do not hold for phrases': [/#index error 1 (#END "fxjaspex)/, '$1'],
    'with spelling errors a phrase means or': [/#END "(fxjaspex) (\w+)"/, '#END $1 or $2'],
  }),
];

const CHARACTERS: readonly BrokerMutant[] = [
  ...misreadings('BRK-2.22', ['fixture/patterns'], {
    'the dot is literal': [/fxmari\.old/, '"fxmari\\.old"'],
    'the dot is any run of characters': [/fxmari\.\.old/, 'fxmari#old'],
    'the number sign is literal': [/fxmari#old/, '"fxmari\\#old"'],
    'classes are literal': [/"fxmari\[a-h\]old"/, '"fxmari\\[a-h]old"'],
    'the sign that negates a class is ignored': [/\[\^a-h\]/, '[a-h]'],
    'the line start is ignored': [/"\^fxlapis"/, 'fxlapis'],
    'the line end is ignored': [/"hazel\$"/, 'hazel'],
    'the line end is the end of a word': [/"hazel\$"/, '"hazel" and not fxhazelnut'],
    'alternatives are literal': [/"fxmarigold\|fxdamask"/, '"fxmarigold\\|fxdamask"'],
    'the first of alternatives counts': [/"fxmarigold\|fxdamask"/, 'fxmarigold'],
    'a range of a class is its ends': [/\[a-h\]/, '[ah]'],
  }),
  ...misreadings('BRK-2.22', ['fixture/malformed-patterns'], {
    'patterns that are not well-formed find nothing': [/#END "(?:[([$].*|.*[)\]|])"\r/, '#END zzyzxplugh\r'],
    'a parenthesis without its end is left out': [/"\((y)"/, '$1'],
    'an end of a group without its begin finds nothing': [/"y\)"/, 'zzyzxplugh'],
    'an end of a class without its begin finds nothing': [/"z\]"/, 'zzyzxplugh'],
    'an open class finds nothing': [/"\[z"/, 'zzyzxplugh'],
    'an asterisk at the begin is left out': [/"\*fxmarigold"/, 'fxmarigold'],
    'an empty alternative matches': [/"fxmarigold\|"/, '#allb'],
    'an empty alternative is left out': [/"fxmarigold\|"/, 'fxmarigold'],
    'an empty group matches nothing between letters': [/"fxmari\(\)gold"/, 'fxmarigold'],
    'a range may be turned around': [/\[h-a\]/, '[a-h]'],
    'backslashes of a malformed pattern are characters': [/"\\\$\\\(x"/, 'zzyzxplugh'],
    'a malformed pattern is a malformed message': [/^.*"\(y".*$/s, 'nonsense\r\n'],
  }),
  {
    name: 'a malformed pattern is not supported, but patterns are',
    rule: 'BRK-2.22',
    change: {
      reply: (reply, message) =>
        /#END "(?:\(y|\[z)"/.test(message) ? '111 - ERROR: the engine does not support this\n' : reply,
    },
    fails: ['fixture/malformed-patterns'],
  },
  ...misreadings('BRK-2.7', ['fixture/literal'], {
    'a backslash before a pattern character is ignored': [/\\([.|[\]])/g, '$1'],
    'a backslash before a dot is ignored': [/\\\./, '.'],
    'a backslash before a blank is a character': [/fxjasper\\ fxlapis/, 'fxjasper\\\\\\\\ fxlapis'],
    'a backslash and what follows it are cut': [/\\[ |[\]]/g, ''],
  }),
  ...misreadings('BRK-2.7', ['fixture/quote'], {
    'a quote in a phrase is dropped': [/\\"/g, ''],
    'a quote in a phrase is a blank': [/"\\"quoted\\""/, '" quoted "'],
    'a phrase with quotes finds nothing': [/"\\"quoted\\""/, 'zzyzxplugh'],
    'what follows a phrase with quotes is ignored': [/("\\"fxmarks")/, 'fxmarks'],
  }),
  refusing('a quote in a phrase ends it', 'BRK-2.7', /\\"/, ['fixture/quote']),
  ...misreadings('BRK-1.10', ['fixture/bytes'], {
    'bytes above 127 of a query are question marks': [/[\x80-\xff]/g, '?'],
    'bytes above 127 of a query are dropped': [/[\x80-\xff]/g, ''],
    'bytes above 127 of a query lose a bit': [
      /[\x80-\xff]/g,
      (byte) => String.fromCharCode(byte.charCodeAt(0) & 127),
    ],
    'bytes above 127 of a query are blanks': [/[\x80-\xff]+/g, ' '],
    'a query is cut at a byte above 127': [/#END "?[\x80-\xff].*\r/, '#END zzyzxplugh\r'],
    'accents are ignored': [/\xe9t\xe9/, 'ete'],
    'characters of four bytes are dropped': [/\xf0\x9f\xa6\x86/, 'zzyzx'],
    'bytes above 127 of a query are written as UTF-8': [
      /[\x80-\xff]+/g,
      (bytes) => Buffer.from(bytes, 'utf8').toString('latin1'),
    ],
  }),
  refusing('a query in Latin-1 is malformed', 'BRK-1.10', /\xe9t\xe9/, ['fixture/bytes']),
  ...misreadings('BRK-1.10', ['fixture/encodings'], {
    'a query in Latin-1 finds no UTF-8': [/#END Gr\xf6\xdfe/, '#END Gr\xf6\xdfe except fxutf'],
    'a query in UTF-8 finds no Latin-1': [
      /#END Gr\xc3\xb6\xc3\x9fe/,
      '#END Gr\xc3\xb6\xc3\x9fe except fxlatin',
    ],
    'case of letters beyond ASCII counts': [/#END GR\xd6\xdfE/, '#END zzyzxplugh'],
    'UTF-8 is read as Latin-1': [/#END \xc3\xa9t\xc3\xa9/, '#END zzyzxplugh'],
  }),
];

/** How programs read a time that does not fit. */
const CLOCKS: Readonly<Record<string, (time: number) => number>> = {
  'is inclusive': (time) => time - 1,
  'is one later': (time) => time + 1,
  'is at most 2^31 - 1': (time) => Math.min(time, 0x7fff_ffff),
  'is cut to 31 bits': (time) => time % 2 ** 31,
  'is 0 above 2^31': (time) => (time >= 2 ** 31 ? 0 : time),
  'is at most 3000000000': (time) => Math.min(time, 3_000_000_000),
};

const LIMITS: readonly BrokerMutant[] = [
  ...Object.entries(CLOCKS).map(([name, edit]) =>
    misreading(
      `#since ${name}`,
      'BRK-3.8',
      /#since (\d+)/,
      (_, time) => `#since ${Math.min(0xffff_ffff, edit(Number(time)))}`,
      ['fixture/since'],
    ),
  ),
  misreading('#since is ignored, with the fixture', 'BRK-3.8', /#since \d+ /, '', ['fixture/since']),
  ...misreadings('BRK-8.11', ['fixture/maxfiles'], {
    'maxfiles n sends n+1': [/maxfiles ([1-9])/, (_, n) => `maxfiles ${Number(n) + 1}`],
    'maxfiles n sends n-1': [/maxfiles ([2-9])/, (_, n) => `maxfiles ${Number(n) - 1}`],
    'maxfiles is ignored, with the fixture': [/#index maxfiles \d /, ''],
    'maxfiles 0 sends one object': [/maxfiles 0/, 'maxfiles 1'],
    'maxfiles 0 sends nothing': [/#index maxfiles 0 #END fx\w+/, '#END zzyzxplugh'],
    'maxfiles sends one object at most': [/maxfiles [1-9]/, 'maxfiles 1'],
  }),
  ...misreadings('BRK-8.11', ['fixture/maxresult'], {
    'maxresult counts objects': [/^#USER {2}(.*)maxresult/, '#USER $1maxfiles'],
    'maxresult counts the lines of each object': [/^#USER {2}(.*)maxresult/, '#USER $1maxlines'],
    'maxresult n sends n+1': [/maxresult ([1-9]\d*)/, (_, n) => `maxresult ${Number(n) + 1}`],
    'maxresult n sends n-1': [/maxresult ([2-9]|1\d)\b/, (_, n) => `maxresult ${Number(n) - 1}`],
    'maxresult is ignored without lines': [/(#opaque .*)#index maxresult \d+ /, '$1'],
    'maxresult is ignored with lines': [/^(#USER {2}.*)#index maxresult \d+ /, '$1'],
    'maxresult sends whole objects only': [/^(#USER {2}.*)maxresult 5\b/, '$1maxresult 4'],
    'maxresult of one digit': [/maxresult (\d)\d/, 'maxresult $1'],
    'maxresult sends no more than three objects without lines': [
      /(#opaque .*)maxresult [2-9]\b/,
      '$1maxresult 1',
    ],
  }),
  ...misreadings('BRK-3.3', ['fixture/maxlines'], {
    'maxlines n sends n+1': [/maxlines ([1-9])/, (_, n) => `maxlines ${Number(n) + 1}`],
    'maxlines n sends n-1': [/maxlines ([2-9])/, (_, n) => `maxlines ${Number(n) - 1}`],
    'maxlines is ignored, with the fixture': [/#index maxlines \d /, ''],
    'maxlines counts the lines of the whole reply': [/maxlines/, 'maxresult'],
    'maxlines counts objects': [/maxlines ([1-9])/, 'maxfiles $1'],
    'maxlines 0 sends one line': [/maxlines 0/, 'maxlines 1'],
  }),
];

export const FIXTURE_MATCHING_MUTANTS: readonly BrokerMutant[] = [...FLAGS, ...CHARACTERS, ...LIMITS];
