// Mutants of a Broker: operators, phrases, attributes, flags.
import { accepting, type BrokerMutant, misreading, misreadings, refusing } from './broker-builders.js';

export const BROKER_QUERY_MUTANTS: readonly BrokerMutant[] = [
  ...misreadings('BRK-2.21', ['query/and'], {
    'and means or': [/(#END \w+) and (\w+\r\n)$/, '$1 or $2'],
    'and looks at its first operand': [/(#END \w+) and \w+\r\n$/, '$1\r\n'],
    'and looks at its second operand': [/#END \w+ and (\w+\r\n)$/, '#END $1'],
  }),
  misreading('or means and', 'BRK-2.21', /(#END \w+) or (\w+\r\n)$/, '$1 and $2', ['query/or']),
  misreading('or looks at its first operand', 'BRK-2.21', /(#END \w+) or \w+\r\n$/, '$1\r\n', ['query/or']),
  ...misreadings('BRK-2.13', ['query/except'], {
    'except means and': [/ except /, ' and '],
    'except means or': [/ except /, ' or '],
    'except is ignored with what follows': [/ except .*(?=\r\n)/, ''],
    'the operands of except change places': [/#END (\w+) except (\w+)\r\n/, '#END $2 except $1\r\n'],
  }),
  misreading('not is ignored', 'BRK-2.13', /\bnot (?=[\w(])/g, '', ['query/and-not', 'query/not']),
  ...misreadings('BRK-2.13', ['query/not-group'], {
    'not before a group is ignored': [/not \(/, '('],
    'not before a group applies to its first word': [/not \((\w+) and (\w+)\)/, '(not $1) and $2'],
  }),
  misreading('not alone finds nothing', 'BRK-2.13', /#END not \w+\r\n/, '#END zzyzxplugh\r\n', ['query/not']),
  misreading('not alone finds everything', 'BRK-2.13', /#END not \w+\r\n/, '#END #allb\r\n', ['query/not']),
  misreading('not applies to all that follows', 'BRK-2.13', /#END not (\w+ or \w+)/, '#END not ($1)', [
    'query/not-binds-tightly',
  ]),
  misreading('operators group to the left', 'BRK-2.12', /#END (\w+ (?:and|except) \w+) or/, '#END ($1) or', [
    'query/right-grouping',
    'query/except-groups-right',
  ]),
  misreading('parentheses are ignored', 'BRK-2.4', /#END \((\w+ and \w+)\) or/, '#END $1 or', [
    'query/left-group',
  ]),
  ...misreadings('BRK-2.5', ['query/phrase-order'], {
    'a phrase means and': [/"([A-Za-z]+) ([A-Za-z]+)"/g, '($1 and $2)'],
    'a phrase matches in reversed order': [/"([A-Za-z]+) ([A-Za-z]+)"/g, '("$1 $2" or "$2 $1")'],
  }),
  misreading('a phrase means or', 'BRK-2.5', /"([A-Za-z]+) ([A-Za-z]+)"/g, '($1 or $2)', ['query/phrase']),
  misreading('a phrase is its first word', 'BRK-2.5', /"([A-Za-z]+) [A-Za-z ]+"/g, '$1', ['query/phrase']),
  misreading('a phrase is its last word', 'BRK-2.5', /"[A-Za-z ]+ ([A-Za-z]+)"/g, '$1', ['query/phrase']),
  misreading('a phrase finds nothing', 'BRK-2.5', /"[A-Za-z]+ [A-Za-z]+"/g, 'zzyzx', ['query/phrase']),
  misreading('a phrase may have words between', 'BRK-2.5', /"(\w+) zzyzx (\w+)"/g, '"$1 $2"', [
    'query/phrase',
  ]),
  misreading('#allb finds nothing', 'BRK-2.11', /#END #allb/i, '#END zzyzxplugh', ['query/all']),
  refusing('#allb is not known', 'BRK-2.11', /#END #allb/i, ['query/all']),
  misreading('words find nothing', 'BRK-2.20', /#END [a-z]+\r\n/, '#END zzyzxplugh\r\n', ['query/all']),
  misreading('words find everything', 'BRK-2.20', /#END [a-z]+\r\n/, '#END #allb\r\n', ['query/nothing']),
  misreading('words are cut to three letters', 'BRK-2.20', /#END ([a-z]{3})[a-z]+\r\n/, '#END $1\r\n', [
    'query/all',
  ]),
];

export const BROKER_ATTRIBUTE_MUTANTS: readonly BrokerMutant[] = [
  misreading('url is not known', 'BRK-2.18', /\burl\b/gi, 'zzyzx', ['query/url']),
  misreading('an attribute is ignored: the whole object is searched', 'BRK-2.14', /\S+ ?: ?(?=")/g, '', [
    'query/attribute-restricts',
  ]),
  refusing('a colon needs blanks', 'BRK-2.14', /url:/, ['query/select-blanks']),
  refusing('a colon needs a blank before it', 'BRK-2.14', /url: "/, ['query/select-blanks']),
  refusing('a colon needs a blank after it', 'BRK-2.14', /url :"/, ['query/select-blanks']),
  refusing('the value after a colon needs quotes', 'BRK-2.8', /url:[a-z]/, ['query/select-blanks']),
  refusing('a structured term may not be in parentheses', 'BRK-2.8', /\(url:/, ['query/select-blanks']),
  misreading('names of attributes are known in lower case only', 'BRK-2.16', /U(?:RL|rl) :/g, 'zzyzx :', [
    'query/attribute-any-case',
  ]),
  misreading('a quoted equation is a phrase', 'BRK-2.15', /"url=/, '"url ', ['query/attribute-equals']),
  misreading('a quoted equation finds its value anywhere', 'BRK-2.15', /"url=\w+"/, '#allb', [
    'query/attribute-equals',
  ]),
  ...misreadings('BRK-2.14', ['query/structured-and'], {
    'a structured term after or is ignored': [/ or \(url.*(?=\r\n)/, ''],
    'or with a structured term is and': [/ or \(url/, ' and (url'],
  }),
  misreading('exact means contains', 'BRK-2.17', / exact /, ' : ', ['query/exact']),
  misreading('exact finds nothing', 'BRK-2.17', /url exact "[^"]*"/, 'zzyzx', [
    'query/exact',
    'query/unsupported',
  ]),
  misreading('regexp finds nothing', 'BRK-2.17', /url regexp "[^"]*"/, 'zzyzx', [
    'query/regexp',
    'query/unsupported',
  ]),
  misreading('regexp finds everything', 'BRK-2.17', /url regexp "[^"]*"/, '#allb', ['query/regexp']),
  ...misreadings('BRK-2.17', ['query/less-than'], {
    'less-than and greater-than change places': [
      /(less|greater)-than/,
      (_, word = '') => `${word === 'less' ? 'greater' : 'less'}-than`,
    ],
  }),
  misreading('greater-than finds nothing', 'BRK-2.19', /url greater-than "[^"]*"/, 'zzyzx', [
    'query/unsupported',
  ]),
  misreading('less-than finds nothing', 'BRK-2.19', /url less-than "[^"]*"/, 'zzyzx', ['query/unsupported']),
  ...misreadings('BRK-4.6', ['attribute/returned'], {
    '#attribute returns another attribute': [/#attribute update-time/i, '#attribute gatherer-name'],
  }),
  misreading('the last #attribute counts', 'BRK-3.6', /(?:#attribute \S+ )+(#attribute)/, '$1', [
    'attribute/accumulates',
  ]),
  ...misreadings('BRK-3.8', ['since/later'], {
    '#since is ignored': [/#since \d+ ?/, ''],
    '#since selects older objects': [/#since \d+/, (text) => (text.length > 10 ? '' : '#since 4000000000')],
  }),
];

export const BROKER_FLAG_MUTANTS: readonly BrokerMutant[] = [
  ...misreadings('BRK-3.1', ['flags/insensitive'], {
    '#index case insensitive is ignored: case counts': [/case insensitive/g, 'case sensitive'],
  }),
  misreading('the old spelling of insensitive means sensitive', 'BRK-3.1', /insenstive/, 'sensitive', [
    'flags/insenstive',
  ]),
  refusing('the old spelling of insensitive is not known', 'BRK-3.1', /insenstive/, ['flags/insenstive']),
  misreading('case sensitive is ignored', 'BRK-3.1', /#index case sensitive/g, '#index case insensitive', [
    'flags/sensitive',
  ]),
  ...misreadings('BRK-3.7', ['flags/default-case'], {
    'case counts without a flag': [/^(#USER (?!.*case)(?=.* #END \w))/, '$1#index case sensitive '],
  }),
  misreading('the first flag of a kind counts', 'BRK-3.6', /(#index case \w+) (#index case \w+)/, '$2 $1', [
    'flags/later-overrides',
  ]),
  misreading('flags after #desc are ignored', 'BRK-3.6', /(#desc).*(?= #END)/, '$1', ['flags/any-order']),
  misreading('matchword is ignored', 'BRK-2.20', /#index matchword ?/g, '', ['flags/matchword']),
  misreading('parts of words never match', 'BRK-2.20', /^#USER/, '#USER #index matchword', ['flags/parts']),
  misreading('errors are ignored', 'BRK-2.23', /#index error \d ?/g, '', ['flags/errors']),
  misreading('one error is always allowed', 'BRK-2.23', /#index error 0/g, '#index error 1', [
    'flags/errors',
  ]),
  misreading('#opaque is ignored', 'BRK-3.2', /#opaque ?/gi, '', ['flags/opaque']),
  misreading('maxresult is ignored', 'BRK-8.11', /#index maxresult \d+ ?/g, '', [
    'flags/maxresult',
    'flags/maxresult-lines',
  ]),
  ...misreadings('BRK-8.11', ['flags/maxresult'], {
    'maxresult is one more': [/maxresult (\d+)/g, (_, n) => `maxresult ${Number(n) + 1}`],
    'with maxresult nothing is found': [/(maxresult [1-9].*#END) .*(?=\r\n)/, '$1 zzyzxplugh'],
  }),
  misreading('maxfiles is ignored', 'BRK-8.11', /#index maxfiles \d+ ?/g, '', ['flags/maxfiles']),
  misreading('maxfiles is one more', 'BRK-8.11', /maxfiles 1/g, 'maxfiles 2', ['flags/maxfiles']),
  misreading('with maxfiles nothing is found', 'BRK-8.11', /(maxfiles 1.*#END) .*(?=\r\n)/, '$1 zzyzxplugh', [
    'flags/maxfiles',
  ]),
  misreading('the limit 0 is one', 'BRK-8.11', /(maxresult|maxfiles) 0/g, '$1 1', ['flags/no-limit']),
  misreading('maxlines is ignored', 'BRK-3.3', /#index maxlines \d+ ?/g, '', ['flags/maxlines']),
  accepting('numbers have any length', 'BRK-3.6', /maxresult (?:0{10}1|9{11}) /, ['flags/numbers']),
  accepting('numbers have 11 digits', 'BRK-3.6', /maxresult 0{10}1 /, ['flags/numbers']),
  accepting('numbers are taken modulo 2^32', 'BRK-3.6', /maxresult 4294967296 /, ['flags/numbers']),
  accepting('numbers may have a sign', 'BRK-3.6', /maxresult -1 /, ['flags/numbers']),
  accepting('letters after a number are ignored', 'BRK-3.6', /maxresult 1x /, ['flags/numbers']),
  refusing('numbers may not begin with zeros', 'BRK-3.6', /maxresult 0+1 /, ['flags/numbers']),
  refusing('numbers have 31 bits', 'BRK-3.6', /maxresult 4294967295 /, ['flags/numbers']),
  accepting('#attribute comes any number of times', 'BRK-3.6', /zzyzx-256 /, ['flags/attribute-limit']),
  refusing('#attribute comes 255 times', 'BRK-3.6', /zzyzx-255 /, ['flags/attribute-limit']),
  refusing('#attribute comes 64 times', 'BRK-3.6', /zzyzx-64 /, ['flags/attribute-limit']),
  refusing('accents are not known', 'BRK-2.25', /index accents/, ['flags/accents']),
  refusing('the scope is not known', 'BRK-2.26', /index scope/, ['flags/scope']),
  refusing('most of the words are not known', 'BRK-2.27', /index words/, ['flags/most-words']),
  misreading(
    'with most of the words those with all are not found',
    'BRK-2.27',
    /(words most #END \S+) and (\S+)/,
    '$1 and not $2',
    ['flags/most-words'],
  ),
  misreading(
    'with most of the words every object lacks the second',
    'BRK-2.27',
    /(words most #END \S+ and) \S+/,
    '$1 zzyzxplugh',
    ['flags/most-words'],
  ),
  refusing('lifetime is not known', 'BRK-3.4', /lifetime/, ['flags/lifetime']),
  refusing('a long lifetime is malformed', 'BRK-3.4', /lifetime 100000/, ['flags/lifetime']),
  refusing('unknown #index flags are malformed', 'BRK-3.5', /#index zzyzx/, ['flags/unknown-index']),
  misreading('unknown #index flags are ignored in silence', 'BRK-3.5', /#index zzyzx(?: plugh)? ?/, '', [
    'flags/unknown-index',
  ]),
  accepting('#index alone is ignored', 'BRK-3', /#index #END/, ['flags/incomplete']),
  accepting('a flag without its value is ignored', 'BRK-3', /#index error #END/, ['flags/incomplete']),
  misreading('#desc is ignored', 'BRK-4.5', /#desc ?/g, '', ['reply/desc-sent']),
];
