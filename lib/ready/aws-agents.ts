/**
 * Agents whose work is one call of AWS: a Lambda function that is waited for, a message, an event.
 *
 * Owns: the calls, and what AWS's answers to them say. Does not own: the right to make them, which is granted
 * as to any agent, the request (`work.ts`). Calls are signed here, so no function gets an SDK client of them.
 * @see https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html
 */

import { and, eq, exists, gt, isIn, matches, ref } from '../author/references.ts';
import type { Condition } from '../author/ref-types.ts';
import type { Agent } from '../core/plan/agent.ts';
import { refuse } from '../core/values/errors.ts';
import type { Json } from '../core/values/json.ts';
import { type KeysOf, optionProblem } from '../core/values/options.ts';
import type {
  AwsCall,
  FromEnvironment,
  HttpAnswer,
  HttpRequest,
  HttpWork,
  Invocation,
  InvokeOptions,
  OutcomeRule,
  PublishOptions,
} from './declaration.ts';
import { declareHttp } from './http-agent.ts';

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

/** Before the function is run: each may be a deployment under way, or too much at once. */
const NOT_YET = [403, 404, 409, 429];
/** S6 a function that ended with an error may have done its work; one that was refused has not begun. */
const ofInvoke = ({ status, header }: HttpAnswer, isProbe: boolean): OutcomeRule<string>[] => [
  { when: exists(header('x-amz-function-error')), is: 'unknown' },
  { when: isIn(status, NOT_YET), is: isProbe ? 'unknown' : 'transient' },
];

/** @throws SteadfastError `bad-name`, `bad-duration`, `bad-agent` */
export function declareInvoke<I, O>(name: string, options: InvokeOptions<I, O>): DeclaredCall<I, O> {
  const env = new Set<string>();
  const invoking = (given: unknown, isProbe = false): unknown => {
    if (given === undefined || given === 'none') return given;
    return (call: { readonly input: unknown }): HttpRequest<string, O> => {
      const written = (
        typeof given === 'function' ? (given as (from: object) => unknown)(call) : given
      ) as Invocation<string, O>;
      const stranger = optionProblem(written, INVOCATION);
      if (stranger !== undefined) throw refuse('bad-agent', `invoke '${name}': ${stranger}`);
      const { function: called, payload = call.input, outcomes, ...rest } = written;
      if (typeof called !== 'string' && typeof called?.env !== 'string')
        throw refuse('bad-agent', `invoke '${name}': function is a function's name or ARN, or { env }`);
      if (typeof called !== 'string') env.add(called.env);
      const own = (answer: HttpAnswer): readonly OutcomeRule<string>[] =>
        typeof outcomes === 'function'
          ? outcomes(answer)
          : Object.entries(outcomes ?? {}).map(([status, is]) => ({
              when: eq(answer.status, Number(status)),
              is,
            }));
      return {
        ...rest,
        method: 'POST',
        url: 'https://lambda.amazonaws.com',
        path: [
          '2015-03-31',
          'functions',
          typeof called === 'string' ? called : ref('env', [called.env]),
          'invocations',
        ],
        headers: { 'x-amz-invocation-type': 'RequestResponse' },
        body: payload,
        outcomes: (answer) => [...own(answer), ...ofInvoke(answer, isProbe)],
      };
    };
  };
  const { execute, probe, undo, ...more } = options;
  const requests = { execute: invoking(execute), probe: invoking(probe, true), undo: invoking(undo) };
  const { declared, work } = declareHttp(name, { ...more, ...requests } as never);
  return { declared: declared as never, work: { ...work, aws: { service: 'lambda', env: [...env] } } };
}

const ANYTHING: Agent['input'] = {
  '~standard': { version: 1, vendor: 'steadfast', validate: (value) => ({ value }) },
};

const valueOf = (named: string | FromEnvironment): string =>
  typeof named === 'string' ? named : (process.env[named.env] ?? '');
const keyOf = (key: string) => ({ DataType: 'String', StringValue: key });

const CONTENT: Readonly<Partial<Record<AwsCall['service'], string>>> = {
  sqs: 'application/x-amz-json-1.0',
  sns: 'application/x-www-form-urlencoded',
  events: 'application/x-amz-json-1.1',
};

/** By target: the service, what its call is named, and its body. */
function callTo(to: PublishOptions<unknown>['to']): AwsCall & { readonly target: string } {
  if ('queue' in to)
    return {
      service: 'sqs',
      target: 'AmazonSQS.SendMessage',
      env: envOf(to.queue),
      shape: (message, key) => {
        const QueueUrl = valueOf(to.queue);
        const once = QueueUrl.endsWith('.fifo')
          ? { MessageGroupId: to.group ?? key, MessageDeduplicationId: key }
          : {};
        const attributes = { MessageAttributes: { idempotencyKey: keyOf(key) } };
        return { QueueUrl, MessageBody: textOf(message), ...attributes, ...once };
      },
    };
  if ('topic' in to)
    return {
      service: 'sns',
      target: '',
      env: envOf(to.topic),
      shape: (message, key) => {
        const TopicArn = valueOf(to.topic);
        const once = TopicArn.endsWith('.fifo')
          ? { MessageGroupId: to.group ?? key, MessageDeduplicationId: key }
          : {};
        const entry = 'MessageAttributes.entry.1';
        const attribute = { [`${entry}.Name`]: 'idempotencyKey', [`${entry}.Value.DataType`]: 'String' };
        const value = { [`${entry}.Value.StringValue`]: key };
        const call = { Action: 'Publish', Version: '2010-03-31', TopicArn, Message: textOf(message) };
        return { ...call, ...attribute, ...value, ...once };
      },
    };
  return {
    service: 'events',
    target: 'AWSEvents.PutEvents',
    env: envOf(to.bus),
    shape: (message) => {
      const entry = { EventBusName: valueOf(to.bus), Source: to.source, DetailType: to.detailType };
      return { Entries: [{ ...entry, Detail: JSON.stringify(message) }] };
    },
  };
}

const envOf = (named: string | FromEnvironment): readonly string[] =>
  typeof named === 'string' ? [] : [named.env];
const textOf = (message: Json): string => (typeof message === 'string' ? message : JSON.stringify(message));

/** Refused for now: too much at once, or a right that a deployment under way brings. */
const isRefusedForNow = ({ status, body }: HttpAnswer, words: string): Condition =>
  and(eq(status, 400), matches(body('__type'), words));

/** @throws SteadfastError `bad-name`, `bad-duration`, `bad-agent` */
export function declarePublish<I>(
  name: string,
  { to, message, ...options }: PublishOptions<I>,
): DeclaredCall<I, Record<string, never>> {
  const { target, ...aws } = callTo(to);
  const isForm = aws.service === 'sns';
  const rules = (answer: HttpAnswer): OutcomeRule<'transient' | 'permanent'>[] => [
    { when: eq(answer.status, 403), is: 'transient' },
    ...(isForm
      ? []
      : [
          ...['*Throttl*', '*AccessDenied*'].map((words) => ({
            when: isRefusedForNow(answer, words),
            is: 'transient' as const,
          })),
          { when: gt(answer.body<number>('FailedEntryCount'), 0), is: 'transient' as const },
        ]),
  ];
  const { declared, work } = declareHttp<I, Record<string, never>>(name, {
    ...options,
    output: ANYTHING as never,
    undo: 'none',
    idempotencyKey: 'x-idempotency-key',
    execute: (call) => ({
      method: 'POST',
      url: `https://${aws.service}.amazonaws.com`,
      headers: {
        'content-type': CONTENT[aws.service] ?? '',
        ...(isForm ? {} : { 'x-amz-target': target }),
      },
      body: typeof message === 'function' ? message(call) : (message ?? call.input),
      outcomes: rules,
      output: () => ({}) as never,
    }),
  });
  return { declared, work: { ...work, aws } };
}
