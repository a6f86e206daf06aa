/**
 * The runtime inside a function's process: receives one event at a time over the IPC channel, calls the
 * handler, answers. Plain JavaScript for plain node (>= 20): it is started by the local cloud, not by tsx.
 *
 * It ends itself when the channel closes: no function outlives the cloud.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const send = process.send.bind(process);
// Hides the channel from bundled libraries that would use it.
process.send = undefined;

let handler;
let current;

process.on('disconnect', () => process.exit(0));
process.on('message', (message) => {
  if (message.t === 'init') handler = load(message);
  else if (message.t === 'invoke') void run(message);
});
process.on('uncaughtException', (error) => {
  process.stderr.write(`${error?.stack ?? String(error)}\n`);
  const answer = {
    t: 'failed',
    id: current,
    fatal: true,
    error: describe(error, 'Runtime.UncaughtException'),
  };
  send(answer, () => process.exit(1));
});

/** Imports the handler's module: `dir/file.export`, in the runtime's order of endings. */
async function load({ env, directory, handler: name }) {
  Object.assign(process.env, env);
  // The name in `ps`.
  process.title = `steadfast ${env.AWS_LAMBDA_FUNCTION_NAME ?? name}`;
  try {
    process.chdir(directory);
    const slash = name.lastIndexOf('/') + 1;
    const dot = name.indexOf('.', slash);
    const stem = join(directory, name.slice(0, dot));
    const file = ['.js', '.mjs', '.cjs'].map((ending) => stem + ending).find((path) => existsSync(path));
    if (file === undefined) throw named('Runtime.ImportModuleError', `Cannot find module '${stem}'`);
    const module = await import(pathToFileURL(file).href);
    let found = module;
    for (const part of name.slice(dot + 1).split('.')) found = found?.[part] ?? found?.default?.[part];
    if (typeof found !== 'function')
      throw named('Runtime.HandlerNotFound', `${name} is undefined or not exported`);
    send({ t: 'ready' });
    return found;
  } catch (error) {
    process.stderr.write(`${error?.stack ?? String(error)}\n`);
    send({ t: 'initFailed', error: describe(error) }, () => process.exit(1));
    return new Promise(() => {});
  }
}

async function run({ id, event, deadlineAt, traceId, context }) {
  current = id;
  try {
    const handle = await handler;
    process.env._X_AMZN_TRACE_ID = traceId;
    const result = await handle(JSON.parse(event), {
      ...context,
      awsRequestId: id,
      callbackWaitsForEmptyEventLoop: true,
      getRemainingTimeInMillis: () => Math.max(0, deadlineAt - Date.now()),
    });
    current = undefined;
    send({ t: 'done', id, payload: JSON.stringify(result === undefined ? null : result) });
  } catch (error) {
    current = undefined;
    process.stderr.write(`${error?.stack ?? String(error)}\n`);
    send({ t: 'failed', id, error: describe(error) });
  }
}

function describe(error, fallback = 'Error') {
  if (!(error instanceof Error)) return { errorType: typeof error, errorMessage: String(error), trace: [] };
  const trace = String(error.stack ?? '')
    .split('\n')
    .slice(0, 20);
  return { errorType: error.name || fallback, errorMessage: error.message, trace };
}

function named(name, message) {
  const error = new Error(message);
  error.name = name;
  return error;
}
