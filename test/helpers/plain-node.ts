/**
 * Arguments of `env` that start a Node process. The test runner instruments every process through NODE_OPTIONS, which triples its
 * start time; `env` removes that variable and becomes the program, so that signals reach it.
 */
export const PLAIN_NODE: readonly string[] = ['-u', 'NODE_OPTIONS', process.execPath];
