/**
 * Arguments of `env` that start a Node process of its own. The test runner hooks itself into every one through NODE_OPTIONS,
 * which triples the time it takes to start; `env` takes that out and then becomes the program, so signals reach it.
 */
export const PLAIN_NODE: readonly string[] = ['-u', 'NODE_OPTIONS', process.execPath];
