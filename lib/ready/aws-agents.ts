/**
 * Agents whose work is one AWS call: the invocation of a Lambda function, a message, an event.
 *
 * Owns: the calls, and the meaning of AWS's answers. Does not own: the permission to make them, which is
 * granted as for any agent; the request (`work.ts`). Calls are signed here, so no function needs an SDK
 * client for them.
 * @see https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html
 */

import { and, eq, exists, gt, isIn, matches, or, ref } from '../author/references.ts';
import type { Agent } from '../core/plan/agent.ts';
import { refuse } from '../core/values/errors.ts';
import type { Json } from '../core/values/json.ts';
import { type KeysOf, optionProblem } from '../core/values/options.ts';
import type {
  AwsCall,
  HttpAnswer,
  HttpWork,
  Invocation,
  InvokeOptions,
  OutcomeRule,
  PublishOptions,
} from './declaration.ts';
import type { FromEnvironment } from '../remote/target.ts';
import { declareHttp, rulesIn } from './http-agent.ts';

interface DeclaredCall<I, O> {
  readonly declared: Agent<I, O>;
  readonly work: HttpWork;
}

const INVOCATION = {
  function: true,
  payload: true,
  outcomes: true,
  output: true,
  token: true,
  progress: true,
} as const satisfies KeysOf<Invocation<string, unknown>>;

/**
 * Statuses that precede the function's run: each may mean a deployment in progress, or too many calls at
 * once.
 */
const NOT_YET = [403, 404, 409, 429];
/** S6 A function that ended with an error may have done its work; a refused call has not begun. */
const ofInvoke = ({ status, header }: HttpAnswer, isProbe: boolean): OutcomeRule<string>[] => [
  { when: exists(header('x-amz-function-error')), is: 'unknown' },
  { when: isIn(status, NOT_YET), is: isProbe ? 'unknown' : 'transient' },
];

/** @throws SteadfastError `bad-name`, `bad-duration`, `bad-agent` */
export function declareInvoke<I, O>(name: string, options: InvokeOptions<I, O>): DeclaredCall<I, O> {
  const env = new Set<string>();
  const request = (given: unknown, call: { readonly input: unknown }, isProbe: boolean): object => {
    const written = (typeof given === 'function' ? given(call) : given) as Invocation<string, O>;
    const { function: called, payload = call.input, outcomes, ...rest } = written;
    const isNamed = typeof called === 'string' || typeof called?.env === 'string';
    const problem =
      optionProblem(written, INVOCATION) ??
      (isNamed ? undefined : "function is a function's name or ARN, or { env }");
    if (problem !== undefined) throw refuse('bad-agent', `invoke '${name}': ${problem}`);
    for (const variable of envOf(called)) env.add(variable);
    const place = typeof called === 'string' ? called : ref('env', [called.env]);
    return {
      ...rest,
      method: 'POST',
      url: 'https://lambda.amazonaws.com',
      path: ['2015-03-31', 'functions', place, 'invocations'],
      headers: { 'x-amz-invocation-type': 'RequestResponse' },
      body: payload,
      outcomes: (answer: HttpAnswer) => [...rulesIn(outcomes, answer), ...ofInvoke(answer, isProbe)],
    };
  };
  const { execute, probe, undo, ...more } = options;
  const invoking = (given: unknown, isProbe = false): unknown =>
    given === undefined || given === 'none'
      ? given
      : (call: { readonly input: unknown }) => request(given, call, isProbe);
  const requests = { execute: invoking(execute), probe: invoking(probe, true), undo: invoking(undo) };
  const { declared, work } = declareHttp<I, O>(name, { ...more, ...requests } as never);
  return { declared, work: { ...work, aws: { service: 'lambda', env: [...env] } } };
}

const ANYTHING: Agent['input'] = {
  '~standard': { version: 1, vendor: 'steadfast', validate: (value) => ({ value }) },
};
const JSON_CALL = { sqs: 'application/x-amz-json-1.0', events: 'application/x-amz-json-1.1' } as const;
const FORM = 'application/x-www-form-urlencoded';

const envOf = (named: string | FromEnvironment): readonly string[] =>
  typeof named === 'string' ? [] : [named.env];
const valueOf = (named: string | FromEnvironment): string =>
  typeof named === 'string' ? named : (process.env[named.env] ?? '');
const textOf = (message: Json): string => (typeof message === 'string' ? message : JSON.stringify(message));

/** The fields that FIFO queues and topics need; they drop a repeated message for five minutes. */
const onceIn = (name: string, group: string | undefined, key: string): Readonly<Record<string, string>> =>
  name.endsWith('.fifo') ? { MessageGroupId: group ?? key, MessageDeduplicationId: key } : {};

/** Returns the service and the body of the call, by target. */
function callTo(to: PublishOptions<unknown>['to']): AwsCall {
  if ('queue' in to)
    return {
      service: 'sqs',
      env: envOf(to.queue),
      shape: (message, key, once) => {
        const QueueUrl = valueOf(to.queue);
        const MessageAttributes = { idempotencyKey: { DataType: 'String', StringValue: key } };
        return {
          QueueUrl,
          MessageBody: textOf(message),
          MessageAttributes,
          ...onceIn(QueueUrl, to.group, once),
        };
      },
    };
  if ('topic' in to)
    return {
      service: 'sns',
      env: envOf(to.topic),
      shape: (message, key, once) => {
        const TopicArn = valueOf(to.topic);
        return {
          Action: 'Publish',
          Version: '2010-03-31',
          TopicArn,
          Message: textOf(message),
          'MessageAttributes.entry.1.Name': 'idempotencyKey',
          'MessageAttributes.entry.1.Value.DataType': 'String',
          'MessageAttributes.entry.1.Value.StringValue': key,
          ...onceIn(TopicArn, to.group, once),
        };
      },
    };
  return {
    service: 'events',
    env: envOf(to.bus),
    shape: (message) => {
      const { source: Source, detailType: DetailType } = to;
      const Detail = JSON.stringify(message);
      return { Entries: [{ EventBusName: valueOf(to.bus), Source, DetailType, Detail }] };
    },
  };
}

/**
 * S6 Too many calls at once, a permission that a deployment in progress will add, an entry that the bus
 * rejected. SNS names its errors in XML, the others in a field.
 */
const ofPublish =
  (service: AwsCall['service']) =>
  ({ status, body }: HttpAnswer): OutcomeRule<'transient'>[] => {
    const error = service === 'sns' ? body() : body('__type');
    return [
      eq(status, 403),
      and(eq(status, 400), or(...['*Throttl*', '*AccessDenied*'].map((words) => matches(error, words)))),
      gt(body<number>('FailedEntryCount'), 0),
    ].map((when) => ({ when, is: 'transient' }));
  };

/** @throws SteadfastError `bad-name`, `bad-duration`, `bad-agent` */
export function declarePublish<I>(
  name: string,
  { to, message, ...options }: PublishOptions<I>,
): DeclaredCall<I, Record<string, never>> {
  const aws = callTo(to);
  const headers: Readonly<Record<string, string>> =
    aws.service === 'sqs'
      ? { 'content-type': JSON_CALL.sqs, 'x-amz-target': 'AmazonSQS.SendMessage' }
      : aws.service === 'events'
        ? { 'content-type': JSON_CALL.events, 'x-amz-target': 'AWSEvents.PutEvents' }
        : { 'content-type': FORM, accept: 'text/xml' };
  const { declared, work } = declareHttp<I, Record<string, never>>(name, {
    ...options,
    output: ANYTHING as never,
    undo: 'none',
    idempotencyKey: 'x-idempotency-key',
    execute: (call) => ({
      method: 'POST',
      url: `https://${aws.service}.amazonaws.com`,
      headers,
      body: typeof message === 'function' ? message(call) : (message ?? call.input),
      outcomes: ofPublish(aws.service),
      output: () => ({}) as never,
    }),
  });
  return { declared, work: { ...work, aws } };
}
