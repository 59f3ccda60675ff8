import { parentPort, workerData } from 'node:worker_threads';
import { compileEssence } from './context.js';
import { summarizeDocument } from './summarize.js';
import {
  detached,
  transferable,
  type WorkerReply,
  type WorkerRequest,
  type WorkerSetup,
} from './worker-messages.js';

// The body of a worker thread of EssencePool: compile once, then one document a message.
const setup: WorkerSetup = workerData;
const context = compileEssence(setup.options, setup.sources);

parentPort?.on('message', ({ input }: WorkerRequest) => {
  let reply: WorkerReply;
  try {
    const output = summarizeDocument(input, context);
    reply = { output: output.soif === undefined ? output : { ...output, soif: detached(output.soif) } };
  } catch (error) {
    reply = { failure: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
  parentPort?.postMessage(reply, 'output' in reply ? transferable(reply.output.soif) : []);
});

const ready: WorkerReply = { ready: true };
parentPort?.postMessage(ready);
