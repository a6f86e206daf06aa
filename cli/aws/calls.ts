/**
 * Makes signed calls to AWS's APIs, without an SDK client for each of ten services.
 *
 * Owns: addresses, the formats of requests (JSON with a target, REST, form-encoded), retries, the text of an
 * error. Does not own: the signature and credentials (`../signed-fetch.ts`), the callers (`../verify/`,
 * `../logs/`, `../console/`).
 */

import type { Command } from 'commander';
import { type Cli, CliError, type Clock, CLOCK, EXIT, messageOf } from '../io.ts';
import { regionOf, signedFetch, type SigningOptions } from '../signed-fetch.ts';

export type Answer = Readonly<Record<string, unknown>>;

/**
 * The prefix of `X-Amz-Target` and the JSON version: `metadata.targetPrefix` and `jsonVersion` of each
 * service's model (https://github.com/boto/botocore/tree/develop/botocore/data).
 */
const TARGETS = {
  dynamodb: ['DynamoDB_20120810', '1.0'],
  events: ['AWSEvents', '1.1'],
  logs: ['Logs_20140328', '1.1'],
  monitoring: ['GraniteServiceVersion20100801', '1.0'],
  sqs: ['AmazonSQS', '1.0'],
  ssm: ['AmazonSSM', '1.1'],
  tagging: ['ResourceGroupsTaggingAPI_20170126', '1.1'],
} as const;
/** The `apiVersion` of services with form-encoded requests. */
const FORMS = { cloudformation: '2010-05-15', sns: '2010-03-31', sts: '2011-06-15' } as const;
type JsonService = keyof typeof TARGETS;
type RestService = 'lambda';

/** Services whose prefix in IAM's actions differs from their address. */
const ACTIONS: Readonly<Record<string, string>> = { monitoring: 'cloudwatch', tagging: 'tag' };
const actionOf = (service: string, operation: string): string =>
  `${ACTIONS[service] ?? service}:${operation}`;

const TRIES = 8;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;
/**
 * Error codes that are retried, such as `ResourceInUse` while Lambda still enables an event source mapping.
 */
const BUSY =
  /Throttl|TooManyRequests|RequestLimitExceeded|LimitExceeded|InUse|Conflict|ProvisionedThroughput/;
const GONE = /NotFound/;

/** The error of a call that AWS rejected or did not answer. */
export class CallError extends CliError {
  readonly gone: boolean;

  constructor(action: string, code: string, text: string, status: number) {
    const denied = /AccessDenied|NotAuthorized|Unauthorized/.test(code);
    super(
      denied ? 'not-allowed' : 'aws',
      denied
        ? `AWS denied ${action}: ${text}\ndocs/SECURITY.md lists the actions that this command needs`
        : `${action}: ${code}: ${text}`,
      EXIT.failed,
    );
    this.gone = GONE.test(code) || status === 404;
  }
}

export interface CallsOptions extends Pick<SigningOptions, 'region' | 'credentials'> {
  readonly clock: Clock;
  /** One address for all services, for a local cloud. */
  readonly endpoint?: string | undefined;
}

/**
 * Makes calls in the region given by `--region`, by the environment or by the API's URL, in this order.
 * @throws CliError `no-region`
 */
export function callsOf({ io }: Cli, command: Command): Calls {
  const options = command.optsWithGlobals<{ region?: string; url: string }>();
  const region =
    options.region || io.env['AWS_REGION'] || io.env['AWS_DEFAULT_REGION'] || regionOf(options.url);
  if (!region)
    throw new CliError('no-region', 'no AWS region is set: add --region <region>, or set AWS_REGION');
  return new Calls({ region, endpoint: io.env['AWS_ENDPOINT_URL'] || undefined, clock: CLOCK });
}

export class Calls {
  readonly #options: CallsOptions;

  constructor(options: CallsOptions) {
    this.#options = options;
  }

  get region(): string {
    return this.#options.region;
  }

  json(service: JsonService, operation: string, body: object): Promise<Answer> {
    const [target, version] = TARGETS[service];
    return this.#send(service, actionOf(service, operation), '/', {
      method: 'POST',
      headers: {
        'content-type': `application/x-amz-json-${version}`,
        'x-amz-target': `${target}.${operation}`,
      },
      body: JSON.stringify(body),
    });
  }

  /** @param action as IAM knows it, without the service */
  rest(service: RestService, action: string, method: string, path: string, body?: object): Promise<Answer> {
    return this.#send(service, actionOf(service, action), path, {
      method,
      ...(body === undefined
        ? {}
        : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
  }

  /**
   * Calls an older service with a form-encoded request.
   * @returns the XML
   */
  form(
    operation: string,
    fields: Readonly<Record<string, string>>,
    service: keyof typeof FORMS = 'cloudformation',
  ): Promise<string> {
    const body = new URLSearchParams({ Action: operation, Version: FORMS[service], ...fields });
    return this.#text(service, actionOf(service, operation), '/', {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: String(body),
    });
  }

  /** Reads the pages of a form-encoded call. */
  async *formPages(
    operation: string,
    fields: Readonly<Record<string, string>>,
  ): AsyncGenerator<string, void> {
    let token = '';
    do {
      const page = await this.form(operation, { ...fields, ...(token === '' ? {} : { NextToken: token }) });
      yield page;
      token = textIn(page, 'NextToken');
    } while (token !== '');
  }

  /** Reads the pages of a JSON call; `next` returns the token of the next page. */
  async *pages(
    ask: (token: string | undefined) => Promise<Answer>,
    next: string,
  ): AsyncGenerator<Answer, void> {
    let token: string | undefined;
    do {
      const page: Answer = await ask(token);
      yield page;
      const given = page[next];
      // Some services return an empty token after the last page.
      token = typeof given === 'string' && given !== '' ? given : undefined;
    } while (token !== undefined);
  }

  async #send(service: string, action: string, path: string, init: RequestInit): Promise<Answer> {
    const text = await this.#text(service, action, path, init);
    return text === '' ? {} : (JSON.parse(text) as Answer);
  }

  async #text(service: string, action: string, path: string, init: RequestInit): Promise<string> {
    const { region, credentials, clock } = this.#options;
    const signed = signedFetch({ service, region, ...(credentials === undefined ? {} : { credentials }) });
    let pauseMs = FIRST_PAUSE_MS;
    for (let left = TRIES; ; left -= 1) {
      const answer = await signed(`${this.#address(service)}${path}`, init).catch((error: unknown) => {
        // Node puts the reason of a refused connection into the cause.
        const { cause } = Object(error) as { cause?: unknown };
        if ((Object(error) as { code?: unknown }).code === 'no-credentials') throw error;
        throw new CliError('no-answer', `${action}: ${messageOf(cause ?? error)}`, EXIT.noAnswer);
      });
      const text = await answer.text();
      if (answer.ok) return text;
      const { code, message } = refusal(answer, text);
      if (left <= 1 || !(BUSY.test(code) || answer.status >= 500))
        throw new CallError(action, code, message, answer.status);
      await clock.sleep(pauseMs);
      pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
    }
  }

  #address(service: string): string {
    const { endpoint, region } = this.#options;
    const suffix = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
    return endpoint ?? `https://${service}.${region}.${suffix}`;
  }
}

/**
 * Finds the error code, whose place depends on the service: `x-amzn-ErrorType: Name:http://…`, `__type:
 * prefix#Name`, `code`; in XML `<Code>` and `<Message>`.
 */
function refusal(answer: Response, text: string): { readonly code: string; readonly message: string } {
  const [inError] = inXml(text, 'Code');
  if (inError !== undefined)
    return { code: inError, message: plainOf(inXml(text, 'Message')[0] ?? text.slice(0, 500)) };
  let body: Answer = {};
  try {
    body = JSON.parse(text) as Answer;
  } catch {
    // The answer is not JSON: it may be from a proxy.
  }
  const type = answer.headers.get('x-amzn-errortype') ?? body['__type'] ?? body['code'];
  const code = typeof type === 'string' ? type.replace(/:.*$/, '').replace(/^.*#/, '') : `${answer.status}`;
  const said = body['message'] ?? body['Message'];
  return { code, message: typeof said === 'string' ? said : text.slice(0, 500) };
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', apos: "'", gt: '>', lt: '<', quot: '"' };

/** The texts of all elements with this name, which must not be nested. */
export const inXml = (xml: string, name: string): string[] =>
  [...xml.matchAll(new RegExp(`<${name}>([^]*?)</${name}>`, 'g'))].map(([, text = '']) => text);

/** The text of the first such element, without XML's escapes; '' if there is none. */
export const textIn = (xml: string, name: string): string => plainOf(inXml(xml, name)[0] ?? '');

/** The text without XML's escapes. */
export const plainOf = (text: string): string =>
  text.replaceAll(
    /&(?:#x([0-9a-fA-F]+)|#(\d+)|(\w+));/g,
    (all, hex?: string, dec?: string, name?: string) => {
      if (hex !== undefined) return String.fromCodePoint(Number.parseInt(hex, 16));
      if (dec !== undefined) return String.fromCodePoint(Number(dec));
      return ENTITIES[name ?? ''] ?? all;
    },
  );

/** @returns undefined if the resource no longer exists */
export async function unlessGone<Result>(result: Promise<Result>): Promise<Result | undefined> {
  try {
    return await result;
  } catch (error) {
    if (error instanceof CallError && error.gone) return undefined;
    throw error;
  }
}
