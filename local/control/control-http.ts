/**
 * Offers the control over HTTP with JSON, under `/_local/…` on the main port. Does not own: what the calls
 * do (control.ts).
 *
 * Invariants
 * - I1 only a page or program of this machine may call: servers.ts refuses a foreign Host, this file a
 *   foreign Origin.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { AlarmState } from '../alarms/alarms.ts';
import type { ToldEvent } from '../events/event-bus.ts';
import { parseExact } from '../events/exact-json.ts';
import { isAskedHere, mayWriteHere } from '../http/pages.ts';
import { pathOf } from '../http/by-path.ts';
import { readBody } from '../http/read-body.ts';
import { isRecord } from '../template/json.ts';
import type { Control } from './control.ts';
import type { ArmedFault, FaultMoment } from './fault.ts';

/** The answer of `/_local/` itself. */
export interface CloudFacts {
  readonly apiUrl: string;
  readonly gatewayUrl: string;
  /** The folder with a log for each function. */
  readonly logs: string;
  readonly outputs: Readonly<Record<string, string>>;
  readonly notRun: readonly string[];
}

type Body = Readonly<Record<string, unknown>>;
type Answer = unknown;
type Handler = (control: Control, name: string, body: Body) => Answer;

const MAX_BODY_BYTES = 2 * 1024 * 1024;

export const controlListener =
  (control: Control, facts: CloudFacts): RequestListener =>
  (request, response) => {
    answer(control, facts, request, response).catch(() => response.destroy());
  };

async function answer(
  control: Control,
  facts: CloudFacts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const [statusCode, body] = await run(control, facts, pathOf(request), request);
  response.writeHead(statusCode, { 'content-type': 'application/json' });
  response.end(`${JSON.stringify(body, null, 2)}\n`);
}

async function run(
  control: Control,
  facts: CloudFacts,
  path: string,
  request: IncomingMessage,
): Promise<[number, unknown]> {
  if (!isAskedHere(request.headers) || !mayWriteHere(request))
    return [
      403,
      problem(
        'forbidden',
        'the control API answers only pages of this machine, and accepts only application/json',
      ),
    ];
  const parts = path
    .split('/')
    .slice(2)
    .filter((part) => part !== '')
    .map(decodeURIComponent);
  const [group = '', name = '', verb = ''] = parts;
  const key = `${request.method ?? 'GET'} ${[group, name === '' ? '' : '*', verb].filter((part) => part !== '').join('/')}`;
  if (key === 'GET ') return [200, facts];
  const handler = HANDLERS[key];
  if (handler === undefined) {
    const other = CONTROL_CALLS.find((call) => call.split(' ')[1] === key.split(' ')[1]);
    if (other !== undefined)
      return [405, problem('methodNotAllowed', `this call is ${other}, not ${request.method ?? 'GET'}`)];
    return [404, problem('notFound', `no such control call; there are: ${Object.keys(HANDLERS).join(', ')}`)];
  }
  const text = await readBody(request, MAX_BODY_BYTES);
  if (text === 'tooLarge') return [413, problem('tooLarge', 'the body is too large')];
  try {
    const parse = group === 'events' ? parseExact : JSON.parse;
    const parsed: unknown = text.length === 0 ? {} : parse(text.toString());
    return [200, (await handler(control, name, isRecord(parsed) ? parsed : {})) ?? { ok: true }];
  } catch (error) {
    return [400, problem('badRequest', error instanceof Error ? error.message : String(error))];
  }
}

/** `*` stands for a function, queue, bucket or schedule by logical id, name or a unique part of one. */
const HANDLERS: Readonly<Record<string, Handler>> = {
  'GET functions': (control) => control.functions(),
  'POST functions/*/kill': async (control, name, body) =>
    await armed(control.kill(name, momentOf(body)), body),
  'POST functions/*/freeze': async (control, name, body) =>
    await armed(control.freeze(name, momentOf(body)), body),
  'POST functions/*/thaw': (control, name, body) => ({
    pids: control.thaw(name, { cut: body['cut'] === true }),
  }),
  'POST functions/*/delay': async (control, name, body) =>
    await armed(control.delay(name, { ...callsOf(body), ms: Number(body['ms']) }), body),
  'POST functions/*/throttle': async (control, name, body) =>
    await armed(control.throttle(name, callsOf(body)), body),
  'POST functions/*/ambiguous': async (control, name, body) =>
    await armed(control.ambiguous(name, callsOf(body)), body),
  'POST functions/*/disable': (control, name, body) => control.disableFunction(name, forMsOf(body)),
  'POST functions/*/enable': (control, name) => control.enableFunction(name),
  'POST functions/*/invoke': async (control, name, body) => await control.invoke(name, body),
  'GET faults': (control) => control.faults(),
  'DELETE faults': (control) => control.clearFaults(),
  'POST capacity/*': (control, name) => control.measureCapacity(name === 'on'),
  'GET calls': (control) => control.calls(),
  'DELETE calls': (control) => control.resetCalls(),
  'GET denials': (control) => control.denials(),
  'DELETE denials': (control) => control.resetAccess(),
  'GET permissions': (control) => control.permissions(),
  'GET queues': (control) => control.queues(),
  'GET queues/*/messages': (control, name) => control.peek(name),
  'POST queues/*/messages': (control, name, body) => ({
    messageId: control.send(name, String(body['body'] ?? '')),
  }),
  'DELETE queues/*/messages': (control, name) => control.purge(name),
  'POST dynamodb/*': async (control, name, body) => {
    if (name !== 'restart') throw new Error('the only call is POST /_local/dynamodb/restart');
    await control.restartDynamo(Number(body['downMs'] ?? 0));
  },
  'GET schedules': (control) => control.schedules(),
  'POST schedules/*/tick': async (control, name) => await control.tick(name),
  'POST schedules/*/disable': (control, name, body) => control.disable(name, forMsOf(body)),
  'POST schedules/*/enable': (control, name) => control.enable(name),
  'GET mappings': (control) => control.mappings(),
  'POST mappings/*/disable': (control, name, body) => control.disableMapping(name, forMsOf(body)),
  'POST mappings/*/enable': (control, name) => control.enableMapping(name),
  'GET alarms': (control) => control.alarms(),
  'POST alarms/*/set': (control, name, body) => control.setAlarm(name, stateIn(body)),
  'GET resources': (control) => control.resources(),
  'GET events': (control) => control.events(),
  'POST events': (control, _name, body) => ({ id: control.putEvent(eventOf(body)) }),
  'GET buckets': (control) => control.buckets(),
  'POST buckets/*/objects': (control, name, body) =>
    control.putObject(name, textIn(body, 'key'), String(body['body'] ?? '')),
};

/** The control calls, as `METHOD path`. */
export const CONTROL_CALLS: readonly string[] = Object.keys(HANDLERS);

function textIn(body: Body, field: string): string {
  const value = body[field];
  if (typeof value === 'string' && value !== '') return value;
  throw new Error(`${field} must be a text, got ${JSON.stringify(value)}`);
}

function stateIn({ state }: Body): AlarmState {
  if (state === 'OK' || state === 'ALARM' || state === 'INSUFFICIENT_DATA') return state;
  throw new Error(`state must be OK, ALARM or INSUFFICIENT_DATA, got ${JSON.stringify(state)}`);
}

function eventOf(body: Body): ToldEvent {
  const bus = body['bus'] === undefined ? {} : { bus: textIn(body, 'bus') };
  const detail = isRecord(body['detail']) ? body['detail'] : {};
  return { ...bus, source: textIn(body, 'source'), detailType: textIn(body, 'detailType'), detail };
}

/** `{"wait": true}` answers at the hit instead of at once. */
async function armed(fault: ArmedFault, body: Body): Promise<Answer> {
  return body['wait'] === true ? { id: fault.id, hit: await fault.hit } : { id: fault.id };
}

function momentOf(body: Body): FaultMoment {
  const operation = typeof body['operation'] === 'string' ? { operation: body['operation'] } : {};
  if (body['beforeCall'] !== undefined) return { beforeCall: Number(body['beforeCall']), ...operation };
  if (body['afterCall'] !== undefined) return { afterCall: Number(body['afterCall']), ...operation };
  if (body['nextEvent'] === true) return { nextEvent: true, afterMs: Number(body['afterMs'] ?? 0) };
  if (typeof body['holding'] === 'string') return { holding: body['holding'] };
  const unknown = Object.keys(body).filter((key) => key !== 'wait');
  if (unknown.length > 0) {
    throw new Error(
      `when? {} (now), {"holding":"text of the event"}, {"nextEvent":true,"afterMs":n}, {"beforeCall":n} or {"afterCall":n} (+"operation")`,
    );
  }
  return 'now';
}

const forMsOf = ({ forMs }: Body): number | undefined => (forMs === undefined ? undefined : Number(forMs));

function callsOf(body: Body): { calls: number; operation?: string } {
  const calls = Number(body['calls'] ?? 1);
  return typeof body['operation'] === 'string' ? { calls, operation: body['operation'] } : { calls };
}

function problem(code: string, message: string): { error: { code: string; message: string } } {
  return { error: { code, message } };
}
