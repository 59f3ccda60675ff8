// Mutants of a Broker: keywords, quotes, parentheses, malformed messages.
import { accepting, type BrokerMutant, misreading, refusing, TERM } from './broker-builders.js';
import { about } from './mutant.js';

export const BROKER_GRAMMAR_MUTANTS: readonly BrokerMutant[] = [
  ...['user', 'end', 'Opaque', 'ALLB', 'INDEX'].map((word) =>
    refusing(`#${word} is not known in this spelling`, 'BRK-2.2', new RegExp(`#${word}\\b`), [
      'grammar/keywords-any-case',
    ]),
  ),
  refusing('AND in capitals is not known', 'BRK-2.3', / AND /, ['grammar/operators-any-case']),
  refusing('And is not known', 'BRK-2.3', / And /, ['grammar/operators-any-case']),
  misreading('OR in capitals is a word', 'BRK-2.3', / OR /, ' "or" ', ['grammar/operators-any-case']),
  misreading('Or is and', 'BRK-2.3', / Or /, ' and ', ['grammar/operators-any-case']),
  misreading('NOT in capitals is a word', 'BRK-2.3', / NOT /, ' "not" ', ['grammar/operators-any-case']),
  refusing('parentheses need blanks around them', 'BRK-2.4', /\)and\(/, ['grammar/parentheses']),
  refusing('parentheses may have no blanks around them', 'BRK-2.4', /\( \w/, ['grammar/parentheses']),
  refusing('parentheses do not nest', 'BRK-2.4', /\(\(\(/, ['grammar/parentheses']),
  refusing('a tab does not separate', 'BRK-2.4', /\t/, ['grammar/blanks']),
  refusing('words in quotes are malformed', 'BRK-2.5', /"\w+" and "/, ['grammar/quoted-word']),
  misreading('words in quotes find nothing', 'BRK-2.5', /"(\w+)"(?= ?and)/, '"$1zz"', [
    'grammar/quoted-word',
  ]),
  ...about('BRK-2.13a', ['grammar/side-by-side'], refusing, {
    'two terms need an operator': new RegExp(
      `#END (?!(?:not|and|or)\\b)${TERM} (?!and\\b|or\\b|not\\b|except\\b|exact\\b|regexp\\b|less|greater|:)\\w+\\s*$`,
      'i',
    ),
  }),
  misreading('two terms are joined by or', 'BRK-2.13a', /(#END \w+) (\w+\r\n)$/, '$1 or $2', [
    'grammar/side-by-side',
  ]),
  refusing('not needs an operator before it', 'BRK-2.13a', /#END "?\w+"? not /, ['grammar/a-not-b']),
  refusing('operator words in quotes are operators', 'BRK-2.6', /"(?:and|not|or|except)"/, [
    'grammar/quoted-operator',
  ]),
  misreading('a keyword in quotes is a keyword', 'BRK-2.6', /"#allb"/, '#allb', ['grammar/quoted-keyword']),
  misreading('a backslash is an escape of the Broker', 'BRK-2.7', /\\ /g, '\\\\', ['grammar/backslash']),
  misreading('a backslash and a blank are cut', 'BRK-2.7', /\\ /g, '', ['grammar/backslash']),
  refusing('a quote in quotes is malformed', 'BRK-2.7', /\\"/, ['grammar/escaped-quote']),
  refusing('a query needs a flag', 'BRK-2.10', /^#USER #END/, ['grammar/no-flags']),
  accepting('a message needs no #END', 'BRK-2.9', /^#USER (?:#opaque )?zzyzx\r\n$/, ['malformed/no-end']),
  accepting('any line is a query', 'BRK-4.14', /^(?:zzyzx|GET|HELLO)/, ['malformed/no-message']),
  accepting('an unknown kind of message is a query', 'BRK-4.14', /^#zzyzx/, ['malformed/no-message']),
  accepting('an HTTP request is a query', 'BRK-4.14', /^GET /, ['malformed/no-message']),
  accepting('the greeting of a Gatherer is a query', 'BRK-4.14', /^HELLO /, ['malformed/no-message']),
  accepting('a query may be missing', 'BRK-2.9', /#END\r\n$/, ['malformed/no-query']),
  accepting('an empty group is a query', 'BRK-2.9', /\(\)\r\n$/, ['malformed/no-query']),
  accepting('a group needs no end', 'BRK-2.4', /\(zzyzx\r\n$/, ['malformed/parentheses']),
  accepting('a closing parenthesis is ignored', 'BRK-2.4', /zzyzx\)\r\n$/, ['malformed/parentheses']),
  accepting('a last operator is ignored', 'BRK-2.3', /zzyzx and\r\n$/, ['malformed/operands']),
  accepting('a first operator is ignored', 'BRK-2.3', /#END or zzyzx/, ['malformed/operands']),
  accepting('not alone is a query', 'BRK-2.3', /#END not\r\n$/, ['malformed/operands']),
  accepting('and alone is a query', 'BRK-2.3', /#END and\r\n$/, ['malformed/operands']),
  accepting('unknown short flags are ignored', 'BRK-3.5', /#USER #zzyzx/, ['malformed/flag']),
];
