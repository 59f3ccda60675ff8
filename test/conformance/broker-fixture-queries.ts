// Mutants of a Broker with the fixture: words, operators, phrases, tags, select operators.
import { type BrokerMutant, misreadings, refusing } from './broker-builders.js';

/** A query of one word of the fixture. */
const WORD = /#END (fx\w+)\r/;

const OPERATORS: readonly BrokerMutant[] = [
  ...misreadings('BRK-2.20', ['fixture/word'], {
    'a word is searched in titles only': [WORD, '#END title : $1\r'],
    'a word is searched in descriptions only': [WORD, '#END description : $1\r'],
    'a word is found in the first object only': [/#index matchword (#END fxamber\r)/, '#index maxfiles 1 $1'],
    'a word finds longer words': [/#END fxlazuli\r/, '#END "fxlapislazuli"\r'],
    'a word is cut to eight letters': [/#index matchword #END (fx\w{6})\w+\r/, '#END $1\r'],
    'a word that has no object finds all': [/#END fxlazuli\r/, '#END #allb\r'],
  }),
  ...misreadings('BRK-2.20', ['fixture/bookkeeping'], {
    'words are not searched in names of Gatherers': [/#END gatherer\r/, '#END title : gatherer\r'],
    'phrases are not searched in names of Gatherers': [
      /#END "conformance fixture"/,
      '#END title : "conformance fixture"',
    ],
    'a phrase with a word of the URL is searched there only': [
      /#END "conformance fixture"/,
      '#END url : "conformance fixture"',
    ],
  }),
  ...misreadings('BRK-2.20', ['fixture/long-value'], {
    'values are searched to 16 KiB': [/#END w(?:3|7|11)000\r/, '#END zzyzxplugh\r'],
    'values are searched to 32 KiB': [/#END w(?:7|11)000\r/, '#END zzyzxplugh\r'],
    'values are searched to 64 KiB': [/#END w11000\r/, '#END zzyzxplugh\r'],
    'lines are searched to 8 KiB': [/#END "w1600 w1601"/, '#END zzyzxplugh'],
    'a phrase crosses lines of a long value': [/#END "w7000 w7001"/, '#END w7000 and w7001'],
  }),
  ...misreadings('BRK-2.21', ['fixture/and'], {
    'and means or, with the fixture': [/#END (\w+) and (\w+)\r/, '#END $1 or $2\r'],
    'and wants both words in one attribute': [
      /#END (\w+) and (\w+)\r/,
      '#END (title : ($1 and $2)) or description : ($1 and $2)\r',
    ],
    'and wants its words in titles': [/#END (\w+) and (\w+)\r/, '#END title : ($1 and $2)\r'],
    'and wants its words side by side': [/#END (\w+) and (\w+)\r/, '#END "$1 $2"\r'],
    'and forgets a third word': [/#END (\w+ and \w+) and \w+\r/, '#END $1\r'],
    'and forgets its first word': [/#END \w+ and (\w+ and \w+)\r/, '#END $1\r'],
    'a third word after and means or': [/#END (\w+ and \w+) and (\w+)\r/, '#END ($1) or $2\r'],
    'and of a word that no object has ignores it': [/#END fxamber and fxebony/, '#END fxamber'],
  }),
  ...misreadings('BRK-2.21', ['fixture/or'], {
    'or means and, with the fixture': [/#END (\w+) or (\w+)\r/, '#END $1 and $2\r'],
    'or means either and not both': [/#END (\w+) or (\w+)\r/, '#END ($1 except $2) or ($2 except $1)\r'],
    'or stops at the first word that finds something': [/#END (\w+) or (\w+)\r/, '#END $1\r'],
    'or forgets its first word': [/#END (\w+) or (\w+)\r/, '#END $2\r'],
    'or forgets a third word': [/#END (\w+ or \w+) or \w+\r/, '#END $1\r'],
    'or of a word that no object has finds nothing': [/ or fxlazuli/, ' and fxlazuli'],
  }),
  ...misreadings('BRK-2.13', ['fixture/not'], {
    'not is ignored, with the fixture': [/not (?=fx)/g, ''],
    'not after and finds nothing': [/ and not \w+\r/, ' and zzyzxplugh\r'],
    'not after and is or': [/ and not /g, ' or '],
    'only the first of several nots counts': [/(not .*)not (?=\w)/, '$1'],
    'only the last of several nots counts': [/not (\w+ and not)/, '$1'],
    'the second word after not is forgotten': [/ and not \w+( and not \w+)\r/, '$1\r'],
    'not of a word looks at titles only': [/and not (\w+)\r/, 'and not title : $1\r'],
    'not of a word looks at descriptions only': [/and not (\w+)\r/, 'and not description : $1\r'],
    'not at the begin negates all that follows': [/#END not (.*)\r/, '#END not ($1)\r'],
    'not at the begin is ignored': [/#END not (\w+ and \w+)\r/, '#END $1\r'],
    'not of a word that no object has finds nothing': [/and not fxlazuli/, 'and fxlazuli'],
  }),
  ...misreadings('BRK-2.13', ['fixture/not-group'], {
    'not before a group is ignored, with the fixture': [/not \(/, '('],
    'not before a group negates its first word': [/not \((\w+)/, '(not $1'],
    'not before a group negates its last word': [/not \((\w+ \w+) (\w+)\)/, '($1 not $2)'],
    'not before a group negates each word': [/not \((\w+) (and|or) (\w+)\)/, '(not $1 $2 not $3)'],
    'not in a negated group is ignored': [/not \((\w+) and not (\w+)\)/, 'not ($1 and $2)'],
    'two nots are one': [/not \(not (\w+)\)/, 'not $1'],
    'two nots are refused': [/not \(not .*\)/, 'not not x'],
    'a group after not looks at titles only': [/ not \(/, ' not title : ('],
  }),
  ...misreadings('BRK-2.13', ['fixture/not-next'], {
    'not negates all words of its group': [/\(not (\w+ or \w+)\)/, '(not ($1))'],
    'not negates the last word of its group': [/\(not (\w+) or (\w+)\)/, '($1 or not $2)'],
    'or after not means and': [/\(not (\w+) or (\w+)\)/, '(not $1 and $2)'],
  }),
  ...misreadings('BRK-2.13', ['fixture/except'], {
    'except means and, with the fixture': [/#END (\w+) except (\w+)\r/, '#END $1 and $2\r'],
    'except means or, with the fixture': [/#END (\w+) except (\w+)\r/, '#END $1 or $2\r'],
    'except is ignored': [/#END (\w+) except (\w+)\r/, '#END $1\r'],
    'the words of except change places': [/#END (\w+) except (\w+)\r/, '#END $2 except $1\r'],
    'except means either and not both': [
      /#END (\w+) except (\w+)\r/,
      '#END ($1 except $2) or ($2 except $1)\r',
    ],
    'except looks at titles only': [/ except (\w+)\r/, ' except title : $1\r'],
  }),
  ...misreadings('BRK-2.12', ['fixture/except-groups-right'], {
    'except groups to the left': [/#END (\w+ except \w+) (\w+ \w+)\r/, '#END ($1) $2\r'],
    'except forgets a third word': [/#END (\w+ except \w+) \w+ \w+\r/, '#END $1\r'],
    'except excludes all words after it': [
      /#END (\w+) except (\w+) except (\w+)\r/,
      '#END $1 except ($2 or $3)\r',
    ],
  }),
  ...misreadings('BRK-2.12', ['fixture/grouping'], {
    'and precedes or': [/#END (\w+) and (\w+) or (\w+)\r/, '#END ($1 and $2) or $3\r'],
    'or precedes and': [/#END (\w+) or (\w+) and (\w+)\r/, '#END ($1 or $2) and $3\r'],
    'operators of four words group to the left': [
      /#END (\w+) and (\w+) or (\w+) or (\w+)\r/,
      '#END (($1 and $2) or $3) or $4\r',
    ],
    'the first operator counts for all': [/#END (\w+ or \w+) and (\w+)\r/, '#END $1 or $2\r'],
  }),
  ...misreadings('BRK-2.4', ['fixture/group'], {
    'parentheses at the begin are ignored': [/#END \((\w+ \w+ \w+)\)/, '#END $1'],
    'a group at the begin is its first word': [/#END \((\w+) \w+ \w+\)/, '#END $1'],
    'a group at the begin is its last word': [/#END \(\w+ \w+ (\w+)\)/, '#END $1'],
    'what follows a group is ignored': [/#END (\(\w+ \w+ \w+\)) .*\r/, '#END $1\r'],
    'operators in a group are those after it': [/#END \((\w+) or (\w+)\) and/, '#END ($1 and $2) and'],
    'nested groups are one': [
      /#END \(\((.*)\)\)\r/,
      (_, inner = '') => `#END ${inner.replace(/[()]/g, '')}\r`,
    ],
  }),
  refusing('groups do not nest, with the fixture', 'BRK-2.4', /#END \(\(fx/, ['fixture/group']),
  ...misreadings('BRK-2.13a', ['fixture/side-by-side'], {
    'words side by side are joined by or': [/#END (\w+) (fxcobalt\r)/, '#END $1 or $2'],
    'words side by side are a phrase': [/#END (\w+) (fxcobalt)\r/, '#END "$1 $2"\r'],
    'of words side by side the first counts': [/#END (\w+) fxcobalt\r/, '#END $1\r'],
    'not without an operator is ignored': [/#END (\w+) not (\w+)\r/, '#END $1 $2\r'],
    'not without an operator is or not': [/#END (\w+) not (\w+)\r/, '#END $1 or not $2\r'],
    'an absent and precedes or': [/#END (\w+ \w+) or (\w+)\r/, '#END ($1) or $2\r'],
  }),
];

const TITLE = /#END title : (\w+)\r/;

const TAGS: readonly BrokerMutant[] = [
  ...misreadings('BRK-2.14', ['fixture/tag'], {
    'a tag is ignored: the whole object is searched': [TITLE, '#END $1\r'],
    'the tag title searches descriptions, too': [TITLE, '#END title : $1 or description : $1\r'],
    'the tag description searches titles, too': [
      /#END description : (\w+)\r/,
      '#END title : $1 or description : $1\r',
    ],
    'a tag before a phrase is ignored': [/title : ("fx)/, '$1'],
    'a tag holds for the first word of its phrase': [/title : "(fx\w+) (\w+)"/, 'title : $1'],
    'a tag that objects lack is ignored': [/keywords : /, ''],
    'a tag without blanks is ignored': [/(title|description):(?=fx)/g, ''],
    'the second of two tags is ignored': [/(#END title.*)description ?: ?(?=fx)/, '$1'],
    'the second of two tags is the first': [/(#END title.*)description/, '$1title'],
    'a tag after and is ignored': [/and title : /, 'and '],
    'a tag holds for a word before it': [/#END (\w+) and title : (\w+)/, '#END title : ($1 and $2)'],
    'a tag compares whole values': [TITLE, '#END title exact $1\r'],
    'a tag looks at the begin of values only': [/#END title : fxbasalt\r/, '#END title exact fxbasalt\r'],
  }),
  refusing('a tag over a group is refused', 'BRK-2.14', /(?:title|description) ?: ?\(/i, [
    'fixture/tag-group',
    'fixture/tag-group-not',
  ]),
  {
    name: 'a tag over a group is not supported',
    rule: 'BRK-2.14',
    change: {
      reply: (reply, message) =>
        /(?:title|description) ?: ?\(/i.test(message)
          ? '111 - ERROR: Glimpse does not support a tag over a group\n'
          : reply,
    },
    fails: ['fixture/tag-group', 'fixture/tag-group-not'],
  },
  ...misreadings('BRK-2.14', ['fixture/tag-group'], {
    'a tag over a group holds for its first word only': [/(title|description) ?: ?\((\w+)/i, '($1 : $2'],
    'a tag over a group holds for its last word only': [/(title) ?: ?\((\w+ \w+) (\w+)\)/i, '($2 $1 : $3)'],
    'a tag over a group is ignored': [/(?:title|description) ?: ?\(/i, '('],
    'a tag over a group wants all words': [/title : \((\w+) or (\w+)\)/, 'title : ($1 and $2)'],
    'a tag over a group wants one word': [/title : \((\w+) and (\w+)\)/i, 'title : ($1 or $2)'],
    'a tag over a group of and means a phrase in any order': [
      /title : \((\w+) and (\w+)\)/,
      '"$2 $1" and title : $1',
    ],
    'a tag over a group holds for what follows the group': [
      /Title: \((.*)\) OR (\w+)/,
      'Title: (($1) OR $2)',
    ],
    'a tag over a group does not hold for a group in it': [
      /description:\((\w+) and \((.*)\)\)/,
      'description:$1 and ($2)',
    ],
    'a group after a tag without a blank is ignored': [/description:\(.*\)\r/, 'zzyzxplugh\r'],
    'a tag over a group finds nothing': [/title : \(.*\)/i, 'zzyzxplugh'],
  }),
  ...misreadings('BRK-2.14', ['fixture/tag-group-not'], {
    'a tag over a group does not hold for negated words': [
      /title : \((\w+) and not (\w+)\)/,
      '(title : $1 and not $2)',
    ],
    'a tag over a group does not allow not': [/title : \((\w+) and not (\w+)\)/, 'title : ($1 and $2)'],
    'a tag over a group replaces a tag in it': [
      /title : \((\w+) and description : (\w+)\)/,
      'title : ($1 and $2)',
    ],
  }),
  ...misreadings('BRK-2.14', ['fixture/tag-names'], {
    'a tag finds longer names with it': [
      TITLE,
      '#END title : $1 or embed<1>-title : $1 or embed<2>-title : $1\r',
    ],
    'a tag of an embedded object is that of its object': [/embed<\d>-title/, 'title'],
    'a tag of an embedded object is that of any': [/embed<2>-title/, 'embed<1>-title'],
    'tags lose digits at their ends': [/#END author-2 : /, '#END author-1 : '],
    'a tag finds names with a number after it': [/#END author : /, '#END author-1 : '],
    'tags end at a dot': [/Fixture_Name\.1/g, 'Fixture_Name'],
    'tags end at an underline': [/Fixture_Name\.1/g, 'Fixture'],
    'tags of one letter are not known': [/#END x : /, '#END zzyzx : '],
    'tags with angle brackets are not known': [/embed<\d>/, 'embed'],
    'an unknown tag searches everything': [/#END name : /, '#END '],
    'tags with hyphens are two words': [/#END author-(\d) : /, '#END author and $1 : '],
  }),
  refusing('a tag with a dot is malformed', 'BRK-2.14', /Fixture_Name\./, ['fixture/tag-names']),
  refusing('a tag with angle brackets is malformed', 'BRK-2.14', /embed</, ['fixture/tag-names']),
  ...misreadings('BRK-2.16', ['fixture/tag-any-case'], {
    'tags in capitals are not known': [/TITLE : /, 'zzyzx : '],
    'a name with capitals is not found in small letters': [/mixed-case : /, 'zzyzx : '],
    'a name with capitals is not found in capitals': [/MIXED-CASE : /, 'zzyzx : '],
    'tags respect case if values do': [/tITLE : /, 'zzyzx : '],
    'values after a tag ignore case': [/case sensitive (#END tITLE)/, 'case insensitive $1'],
  }),
  ...misreadings('BRK-2.14', ['fixture/tag-flags'], {
    'matchword does not hold for tags': [/#index matchword (#END title : fxhazel\r)/, '$1'],
    'whole words after a tag find nothing': [/matchword #END title : fxhazel/, 'matchword #END zzyzxplugh'],
    'case counts after a tag': [/#END title : FXHAZEL/, '#index case sensitive #END title : FXHAZEL'],
    'case sensitive does not hold for tags': [/case sensitive #END title/, 'case insensitive #END title'],
    'bytes above 127 after a tag are not found': [/title : \xe9t\xe9/, 'title : ?t?'],
  }),
  ...misreadings('BRK-2.15', ['fixture/tag-equals'], {
    'a quoted "tag=value" is a phrase': [/"(title|description)=/, '"$1\\='],
    'a quoted "tag=value" looks at everything': [/"(?:title|description)=/, '"'],
    'a quoted "tag=value" looks at the first word': [/"title=(\w+) \w+"/, '"title=$1"'],
    'a quoted "tag=value" with blanks is a phrase': [/"title=(\w+ \w+)"/, '"title $1"'],
    'a quoted "tag=value" is title': [/"description=/, '"title='],
    'what follows a quoted "tag=value" is ignored': [/("description=\w+") and.*\r/, '$1\r'],
  }),
  ...misreadings('BRK-2.18', ['fixture/url'], {
    'url searches everything': [/url : (?=\w)/, ''],
    'url compares whole URLs': [/url : (\w+)\r/, 'url exact "$1"\r'],
    'url does not know schemes': [/url : (?:urn|https)\r/, 'zzyzxplugh\r'],
    'url does not know the host': [/url : fixture\r/, 'url : "/fixture"\r'],
    'url knows the words of a path by its first': [/url : near\r/, 'zzyzxplugh\r'],
    'url knows words of ten digits as numbers of 32 bits': [/url : 4294967296\r/, 'url : 0\r'],
    'url finds parts of words in spite of matchword': [
      /#index matchword (#END url : https)/,
      '$1 or url : ftp',
    ],
  }),
  ...misreadings('BRK-2.18', ['fixture/url-parts'], {
    'url looks at the begin of URLs': [/url : "\//, 'url : "^/'],
    'url looks at the end of URLs': [/url : "(\/\w+\/)"/, 'url : "$1$"'],
    'url knows URLs with a slash only': [/url : "(?=fixture:)/, 'url : "/'],
    'url finds whole words only': [/url : "ixtur"/, 'zzyzxplugh'],
    'url is cut at a question mark': [/url : "\/p\?a=1"/, 'url : "/p"'],
    'a question mark is a pattern of URLs': [/url : "\/p\?a=1"/, 'url : "/p.a"'],
    'url is cut to 24 bytes': [/times\/4294967296/, 'times/'],
  }),
  ...misreadings('BRK-2.17', ['fixture/exact'], {
    'exact finds parts': [/title exact (?=fxamber|"near duplicat")/, 'title : '],
    'exact finds the begin of values': [/title exact "near duplicat"/, 'title regexp "^near duplicat"'],
    'exact ignores case': [/case sensitive (#END title exact)/, 'case insensitive $1'],
    'exact respects case': [/#opaque (#END title exact)/, '#opaque #index case sensitive $1'],
    'exact ignores blanks at the ends': [
      /(title exact "near duplicate")/,
      '($1 or title exact "near duplicate ")',
    ],
    'exact ignores blanks at the end of its value': [/exact "near duplicate "/, 'exact "near duplicate"'],
    'exact takes runs of blanks for one': [
      /(title exact "near duplicate")/,
      '($1 or title exact "near  duplicate")',
    ],
    'exact compares words': [
      /title exact fxamber/,
      '(title exact fxamber or title exact "fxamber fxbasalt")',
    ],
    'exact looks at all attributes': [
      /title exact fxamber/,
      '(title exact fxamber or description : fxamber)',
    ],
    'exact does not know punctuation': [/title exact "}"/, 'zzyzxplugh'],
    'exact finds nothing, with the fixture': [/title exact .*\r/, 'zzyzxplugh\r'],
  }),
  ...misreadings('BRK-2.17', ['fixture/less-than'], {
    'less-than is inclusive': [/#END (\S+) less-than (\S+)\r/, '#END $1 less-than $2 or $1 exact $2\r'],
    'greater-than is inclusive': [
      /#END (\S+) greater-than (\S+)\r/,
      '#END $1 greater-than $2 or $1 exact $2\r',
    ],
    'less-than and greater-than change places, with the fixture': [
      /(\w+)-than/,
      (_, word = '') => `${word === 'less' ? 'greater' : 'less'}-than`,
    ],
    'numbers are compared by their first digit': [/than 1[01](?=\r)/, 'than 1'],
    'numbers are compared as bytes': [/fixture-size greater-than 9\r/, 'zzyzxplugh\r'],
    'less-than compares bytes': [/fixture-size less-than 1[01]\r/, 'fixture-size exact 100\r'],
    'the part of a number after its point is ignored': [/10\.5/, '10'],
    'a number with a point is a string': [/Fixture-Size less-than 10\.5/, 'zzyzxplugh'],
    'an absent number is 0': [
      /#END fixture-size less-than (\w+)\r/,
      '#END fixture-size less-than $1 or fxamber\r',
    ],
    'texts are not compared': [/title greater-than witch/, 'zzyzxplugh'],
    'texts are compared without case': [/title greater-than witch/, 'title greater-than "Witch"'],
    'comparison looks at names in small letters': [/Fixture-Size/, 'zzyzx'],
  }),
  ...misreadings('BRK-2.17', ['fixture/less-than-times'], {
    'numbers have 31 bits': [/less-than 2147483648/, 'less-than 0'],
    'numbers have 32 bits': [/greater-than 4294967296/, 'greater-than 0'],
    'numbers above 2^32 are equal': [/greater-than 4294967296/, 'greater-than 4294967297'],
  }),
  ...misreadings('BRK-2.17', ['fixture/regexp'], {
    'regexp means contains': [/regexp "\^fxlapis"/, ': fxlapis'],
    'regexp is anchored': [/regexp "ebony"/, 'regexp "^ebony$"'],
    'regexp looks at the first line': [/regexp "\^fxiris \[bc\]\$"/, 'regexp "^zzyzx$"'],
    'regexp is not anchored at lines': [/regexp "\^(fxlapis)"/, 'regexp "$1"'],
    'regexp has no classes': [/\[bc\]/, '\\\\[bc\\\\]'],
    'regexp has no alternatives': [/\(9\|100\)/, '(9)'],
    'the dot of regexp is literal': [/"\^1\.\$"/, '"^1[.]$"'],
    'regexp respects case': [/#opaque (#END title regexp)/, '#opaque #index case sensitive $1'],
    'regexp ignores case': [/case sensitive (#END title regexp)/, 'case insensitive $1'],
    'regexp looks at all attributes': [/description regexp "\^fxiris \[bc\]\$"/, 'fxiris'],
  }),
];

const PHRASES: readonly BrokerMutant[] = [
  ...misreadings('BRK-2.5', ['fixture/phrase'], {
    'a phrase means and, with the fixture': [/#END "(fx\w+) (fx\w+)"\r/, '#END $1 and $2\r'],
    'a phrase means or, with the fixture': [/#END "(fx\w+) (fx\w+)"\r/, '#END $1 or $2\r'],
    'a phrase matches in reversed order, with the fixture': [
      /#END "(fx\w+) (fx\w+)"\r/,
      '#END "$1 $2" or "$2 $1"\r',
    ],
    'a phrase is its first word, with the fixture': [/#END "(fx\w+) (fx\w+)"\r/, '#END $1\r'],
    'a phrase is its last word, with the fixture': [/#END "(fx\w+) (fx\w+)"\r/, '#END $2\r'],
    'a phrase may have a word within': [/#END "(fxjasper) (fxlapis)"\r/, '#END "$1 $2" or "$1 and $2"\r'],
    'a phrase finds titles only': [/#END "(fxamber fxbasalt)"/, '#END title : "$1"'],
    'the last word of a phrase is the begin of a word': [/#index matchword (#END "fx\w+ fx\w+"\r)/, '$1'],
    'and in a phrase is an operator': [/"(fxjasper) and (fxlapis)"/, '$1 and $2'],
    'and in a phrase is left out': [/"(fxjasper) and (fxlapis)"/, '"$1 $2"'],
  }),
  ...misreadings('BRK-2.20', ['fixture/phrase-lines'], {
    'a phrase crosses line ends': [/"fxfirst fxsecond"/, 'fxfirst and fxsecond'],
    'a phrase crosses line ends of other values': [/"line second"/, '"second line"'],
    'a phrase crosses attributes': [/"fxbasalt fxcobalt"/, 'fxbasalt and fxcobalt'],
    'a phrase crosses attributes from the last to the first': [/"fxdamask fxamber"/, 'fxdamask and fxamber'],
    'a phrase is not found in descriptions': [/#END "fxamber fxcobalt"/, '#END title : "fxamber fxcobalt"'],
    'a value of several lines has its first only': [/fxfirst and fxsecond/, 'fxfirst and zzyzxplugh'],
  }),
  ...misreadings('BRK-2.20', ['fixture/phrase-blanks'], {
    'several blanks of a phrase are sought as they are': [
      /"near {2}duplicate"/,
      'title regexp "near  duplicate"',
    ],
    'a blank of a phrase is one blank': [/#END "near duplicate"/, '#END title regexp "near duplicate"'],
    'blanks of a phrase may be absent': [/"fxblanks of a title"/, 'zzyzxplugh'],
    'a tab is not a blank': [/"fxblanks of a title"/, '"fxblanks of" and "a title" and "fxblanks a"'],
    'the last word of a phrase is the begin of another': [/#index matchword (#END "near duplicat"\r)/, '$1'],
    'a phrase is compared with whole values': [/#END "near duplicate"/, '#END title exact "near duplicate"'],
  }),
];

const WORDS: readonly BrokerMutant[] = [
  ...misreadings('BRK-2.20', ['fixture/phrase-hyphen'], {
    'a hyphen of a query is sought as it is': [/near-duplicate/, '"zzyzxplugh"'],
    'a hyphen of an object is not a blank': [/#END "size 1"/, '#END zzyzxplugh'],
    'words with a hyphen are joined by and': [/#END fxmarks-100/, '#END fxmarks or fxnul'],
    'a hyphen of a query separates words': [/#END near-duplicate/, '#END near and duplicate or fxnear'],
  }),
  ...misreadings('BRK-2.6', ['fixture/quoted-operator'], {
    'a quoted and is left out': [/"and" and fxjasper/, 'fxjasper'],
    'a quoted and finds everything': [/except "and"/, 'except fxjasper'],
    'a quoted and finds nothing': [/"and"/g, 'zzyzxplugh'],
    'a quoted not finds everything': [/and "not"/, ''],
  }),
  refusing('a quoted and is an operator', 'BRK-2.6', /"and" and fxjasper/, ['fixture/quoted-operator']),
];

export const FIXTURE_QUERY_MUTANTS: readonly BrokerMutant[] = [...OPERATORS, ...TAGS, ...PHRASES, ...WORDS];
