import { parentPort, workerData } from 'node:worker_threads';
import { compileEssence } from './context.js';
import { summarizeDocument } from './summarize.js';
import {
  packOutput,
  transferable,
  type WorkerReply,
  type WorkerRequest,
  type WorkerSetup,
} from './worker-messages.js';

// The body of a worker thread of EssencePool: compile once, then one document a message.
const setup: WorkerSetup = workerData;
const context = compileEssence(setup.options, setup.sources);

/** One after the other: a document that waits for a program must not be overtaken, since replies have no names. */
let turn: Promise<void> = Promise.resolve();

parentPort?.on('message', (request: WorkerRequest) => {
  turn = turn.then(() => work(request));
});

async function work({ input }: WorkerRequest): Promise<void> {
  let reply: WorkerReply;
  try {
    reply = { output: packOutput(await summarizeDocument(input, context)) };
  } catch (error) {
    reply = { failure: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
  const given =
    'output' in reply ? [...transferable(reply.output.soif), ...transferable(reply.output.links)] : [];
  parentPort?.postMessage(reply, given);
}

const ready: WorkerReply = { ready: true };
parentPort?.postMessage(ready);
