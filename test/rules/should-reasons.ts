// Conformance cases that are a SHOULD although all of their rules are a MUST, by the reason.

/** The reason, and the cases by suite. */
export const SHOULD_REASONS: readonly (readonly [
  reason: string,
  cases: Readonly<Record<string, readonly string[]>>,
])[] = [
  [
    'the rule says SHOULD of what the case judges, or leaves it to a setting',
    { broker: ['flags/opaque-mode'], gatherd: ['info/order'], soif: ['url-encoding'] },
  ],
  [
    'engines of the time, such as Swish and WAIS, know whole words only',
    { broker: ['fixture/parts', 'fixture/url-parts', 'flags/parts'] },
  ],
  [
    'judges the exit status, by which not every client reports',
    {
      'broker-client': [
        'session/exit-status',
        'refused/no-connection',
        'error/111-status',
        'cut/in-object',
        'cut/in-bytes',
        'cut/reset',
        'cut/nothing',
        'refused/gatherer',
      ],
      'bulk-client': [
        'session/exit-status',
        'error/status',
        'refused/gatherer',
        'proposed/higher-major',
        'proposed/unknown-code',
        'proposed/wrong-magic',
        'proposed/no-end-marker',
        'proposed/cut-in-version',
        'proposed/error',
        'proposed/error-behind-objects',
      ],
      'sstp-client': ['session/exit-status', 'damage/no-server'],
    },
  ],
  [
    'judges what a program shows to its user',
    { 'broker-client': ['error/101-shown'], 'bulk-client': ['error/shown', 'proposed/wrong-count'] },
  ],
  [
    'judges a part of the rule that is a choice of this project, which no program of the time can know',
    {
      broker: [
        'grammar/escaped-quote',
        'reply/order',
        'attribute/missing',
        'fixture/phrase-hyphen',
        'fixture/missing',
        'admin/refusal-tells-nothing',
      ],
      'broker-client': [
        'sent/insensitive',
        'lines/last-without-lf',
        'desc/no-lf',
        'desc/crlf',
        'attribute/no-lf',
        'attribute/crlf',
      ],
      bulk: [
        'transfer/success-line',
        'message/lf',
        'error/since',
        'error/since-too-large',
        'error/no-end',
        'error/no-query',
        'error/flag',
        'error/query',
        'endurance/together',
        'proposed/error',
      ],
      'bulk-client': ['session/keeps-open', 'groups/run-on', 'gzip/tolerated'],
      sstp: ['request/bare-lf'],
      'sstp-client': ['reply/closed', 'pages/no-progress'],
    },
  ],
];
