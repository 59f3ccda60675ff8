// Mutants of how a Broker understands messages: the proxy hands other messages to the own Broker than the
// client has sent.
import { type BrokerMutant, FINDS_NOTHING, misreading, misreadings, refusing } from './broker-builders.js';
import { BROKER_GRAMMAR_MUTANTS } from './broker-grammar.js';
import type { BrokerChange } from './broker-link.js';
import { BROKER_ATTRIBUTE_MUTANTS, BROKER_FLAG_MUTANTS, BROKER_QUERY_MUTANTS } from './broker-queries.js';
import { about, alone, whole } from './mutant.js';

const MESSAGES: readonly BrokerMutant[] = [
  refusing('a message must end in CR LF', 'BRK-1.8', /[^\r]\n$/, ['message/lf']),
  refusing('empty lines before a message are malformed', 'BRK-1.8', /^\s*\n\S/, ['message/empty-lines']),
  ...about('BRK-1.7', ['message/bytewise'], whole<BrokerChange>, {
    'the first bytes are the message': {
      chunk: (text) => (text.length <= 3 && !text.endsWith('\n') ? '?\n' : text),
    },
  }),
  refusing('long messages are malformed', 'BRK-1.8', / {5000}/, ['message/long']),
  misreading('a message may have any length', 'BRK-1.8', /^(?=[\s\S]{65538})#USER {5000,}/, '#USER ', [
    'message/longest',
  ]),
  refusing('a message has 65535 bytes', 'BRK-1.8', /^#USER {5000}(?=[\s\S]{60530})/, ['message/longest']),
  refusing('a message needs a line end', 'BRK-1.8', /[^\n]$/, ['message/end-of-input']),
  misreading('an LF ends a message even in quotes', 'BRK-1.8', /("[^"]*)\n[^"]*"[\s\S]*$/, '$1\r\n', [
    'message/lf-in-quotes',
  ]),
  misreading(
    'a message that does not end may be longer',
    'BRK-1.8',
    /^[^\n]{65538,}$/,
    '',
    ['message/too-long'],
    ['message/too-long'],
  ),
  ...about('BRK-1.6', ['message/one'], whole<BrokerChange>, {
    'every message of a connection is answered': {
      reply: (reply, _message, rest) => (rest === '' ? reply : reply + reply),
    },
  }),
  misreading('a message that does not end is a query', 'BRK-1.8', /^.{60000,}$/s, FINDS_NOTHING, [
    'message/too-long',
  ]),
  refusing('bytes above 127 are malformed', 'BRK-1.10', /[\x80-\xff]/, ['message/bytes-above-127']),
  ...about('BRK-1.7', ['message/crlf'], alone<BrokerChange>, {
    'a client must close its side': { message: (text) => text.replace(/\r?\n$/, '') },
  }),
];

const ADMIN: readonly BrokerMutant[] = [
  ...misreadings('BRK-5.2', ['admin/wrong-password'], {
    'any password is accepted': [/^#ADMIN #password .*(#[a-z-]+.*)$/is, '#ADMIN #password "open sesame" $1'],
    'an empty password is accepted': [/#password ""/, '#password "open sesame"'],
  }),
  ...misreadings('BRK-5.1', ['admin/no-password'], {
    'no password is needed': [/^#ADMIN #do-stats/, '#ADMIN #password "open sesame" #do-stats'],
    'a missing password is an empty one': [/#password #do-stats/, '#password "open sesame" #do-stats'],
  }),
  ...misreadings('BRK-5.2', ['admin/similar-password'], {
    'the beginning of the password is enough': [/#password "open sesam"/, '#password "open sesame"'],
    'the case of the password does not count': [/#password "OPEN SESAME"/, '#password "open sesame"'],
    'what follows the password does not count': [/#password "open sesamex"/, '#password "open sesame"'],
  }),
  refusing('the right password is refused', 'BRK-5.2', /open sesame/, ['admin/stats', 'admin/flush-log']),
  refusing('#do-stats is not known', 'BRK-5.1', /open sesame" #do-stats/, ['admin/stats']),
  refusing('#flush-log is not known', 'BRK-5.1', /open sesame" #flush-log/, ['admin/flush-log']),
  refusing('#rem-object-query is not known', 'BRK-5.1', /open sesame" #rem-object-query/, [
    'admin/rem-object-query',
  ]),
  refusing('#incremental-index is not known', 'BRK-5.1', /open sesame" #incremental-index/, ['admin/index']),
  refusing('#Password is not known', 'BRK-2.2', /#Password/, ['admin/keyword-any-case']),
  refusing('#PASSWORD is not known', 'BRK-2.2', /#PASSWORD/, ['admin/keyword-any-case']),
  refusing('commands are known in lower case only', 'BRK-2.2', /#DO-STATS/, ['admin/keyword-any-case']),
  ...misreadings('BRK-5.4', ['admin/unknown'], {
    'unknown commands succeed': [/open sesame" #?zzyzx/, 'open sesame" #do-stats'],
    'a missing command succeeds': [/open sesame" \r\n/, 'open sesame" #do-stats\r\n'],
  }),
  ...['#set', '#add-log', '#rem-object-query', '#add-object'].map((command) =>
    misreading(
      `${command} needs no parameter`,
      'BRK-5.1',
      new RegExp(`open sesame" ${command}\\r\\n`),
      'open sesame" #do-stats\r\n',
      ['admin/parameters'],
    ),
  ),
  {
    name: '#rem-object-query deletes an object',
    rule: 'BRK-5.1',
    change: {
      reply: (reply, message) =>
        message === '#USER #opaque #END #allb\r\n'
          ? reply.replace(/^120[\s\S]*?130 - object end\n/, '')
          : reply,
    },
    fails: ['admin/rem-object-query'],
    only: ['query/all', 'admin/rem-object-query'],
  },
  ...about(
    'BRK-5.4',
    ['admin/stats', 'admin/flush-log', 'admin/index', 'admin/rem-object-query'],
    whole<BrokerChange>,
    {
      'the answer to a command is empty': {
        reply: (reply, message) => (/open sesame/.test(message) ? '' : reply),
      },
    },
  ),
  ...about('BRK-5.4', ['admin/stats', 'admin/flush-log', 'admin/index'], whole<BrokerChange>, {
    'the answer to a command has objects': {
      reply: (reply, message) =>
        /open sesame/.test(message) ? `${reply}120 - http://x/\n130 - object end\n` : reply,
    },
  }),
];

const ENDURANCE: readonly BrokerMutant[] = [
  ...about('BRK-1.8', ['endurance/silent-client'], alone<BrokerChange>, {
    'one client is served at a time': { weakness: { blockedBy: () => true } },
    'half a message blocks the others': { weakness: { blockedBy: (sent) => /^#USER(?!.*\n)/.test(sent) } },
  }),
  ...about('BRK-2.24', ['endurance/deep'], alone<BrokerChange>, {
    'nested groups end the connection': {
      reply: (reply, message) => (/\(\({1000}/.test(message) ? '' : reply),
    },
    'nested negations end the connection': {
      reply: (reply, message) => (/(?:not \(){1000}/.test(message) ? '' : reply),
    },
    'thousands of terms end the connection': {
      reply: (reply, message) => (/(?:zzyzx or ){1000}/.test(message) ? '' : reply),
    },
    'nested groups stop the Broker': { weakness: { diesAt: (sent) => /\){1000}/.test(sent) } },
    'thousands of terms stop the Broker': {
      weakness: { diesAt: (sent) => /(?:zzyzx or ){1000}/.test(sent) },
    },
  }),
  ...about('BRK-1.5', ['endurance/does-not-read'], alone<BrokerChange>, {
    'a client that does not read stops the Broker': {
      weakness: { diesAt: (sent) => sent === '#USER #desc #END #allb\r\n' },
    },
  }),
  ...about('BRK-1.6', ['endurance/client-leaves'], alone<BrokerChange>, {
    'a client that leaves before its message stops the Broker': {
      weakness: { diesAfter: (sent) => sent === '' },
    },
    'a client that leaves within its message stops the Broker': {
      weakness: { diesAfter: (sent) => /^#USER(?!.*\n)/.test(sent) },
    },
  }),
  {
    name: 'some of many clients get another answer',
    rule: 'BRK-4.18',
    get change() {
      return everyNth(7, (reply) => reply.replace(/^120[\s\S]*?130 - object end\n/, ''));
    },
    fails: ['endurance/together'],
    only: ['endurance/together'],
  },
  ...about('BRK-4.18', ['query/all'], whole<BrokerChange>, {
    'none of many clients is answered': {
      reply: (reply, message) =>
        message.includes('matchword') && !message.includes('zz') ? '111 - ERROR: too busy\n' : reply,
    },
  }),
];

/** Changes one in so many replies to a query of words. */
function everyNth(n: number, edit: (reply: string) => string): BrokerChange {
  let count = 0;
  return {
    reply: (reply, message) =>
      /matchword/.test(message) && ++count > 22 && count % n === 0 ? edit(reply) : reply,
  };
}

export const BROKER_MESSAGE_MUTANTS: readonly BrokerMutant[] = [
  ...MESSAGES,
  ...BROKER_GRAMMAR_MUTANTS,
  ...BROKER_QUERY_MUTANTS,
  ...BROKER_ATTRIBUTE_MUTANTS,
  ...BROKER_FLAG_MUTANTS,
  ...ADMIN,
  ...ENDURANCE,
];
