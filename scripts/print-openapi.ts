/**
 * Prints docs/openapi.json (OpenAPI 3.1) from the table of routes, the types of answers and the schemas of
 * requests.
 *
 * Owns: how a route becomes an operation. Does not own: the facts (`contract/routes.ts`), how a type becomes
 * JSON Schema (`json-schemas.ts`).
 */

import * as z from 'zod/mini';
import { CALLS, type Route } from '../lib/api/calls.ts';
import { ERRORS } from './contract/errors.ts';
import { EXAMPLES } from './contract/examples.ts';
import { DESCRIBED, type DescribedRoute, ERRORS_OF_ALL, ERRORS_OF_WRITES } from './contract/routes.ts';
import { DEFAULT_LIMIT, MAX_LIMIT } from '../lib/api/requests.ts';
import { ROUTES } from '../lib/api/routes.ts';
import { type ErrorCode, STATUS } from '../lib/api/statuses.ts';
import { packageVersion } from '../lib/project/package-files.ts';
import { refOf, requestSchema, type Schema, typeSchemas, withComments } from './json-schemas.ts';

/** Parameters of paths and queries; a schema here replaces the text type that every query parameter has. */
const PARAMETERS: Readonly<Record<string, Schema & { readonly description: string }>> = {
  name: { description: 'The name of a workflow.', type: 'string' },
  id: { description: 'The id of an execution.', type: 'string' },
  n: { description: 'The number of an incident.', type: 'integer' },
  token: { description: 'What the holder of a callback or an approval was given: a secret.', type: 'string' },
  cursor: { description: 'The `cursor` of the page before.' },
  limit: {
    description: 'How many to a page.',
    type: 'integer',
    minimum: 1,
    maximum: MAX_LIMIT,
    default: DEFAULT_LIMIT,
  },
  workflow: { description: 'Only executions of this workflow.' },
  status: {
    description: "Only executions in this status; 'open': not ended; 'bad': ended, but not succeeded.",
  },
  atRisk: { description: 'Only executions that may not end well or in time without help.' },
  key: { description: 'Only the one that was started with this idempotency key; with `workflow`.' },
  tag: {
    description: "Only executions with this tag, as 'name:value', which a workflow names in its `tags`.",
  },
  code: { description: 'Only executions that ended with this failure, or ask about it.' },
  plan: {
    description:
      "Only executions with this plan, by its hash; 'old': with any but the one that new ones start with. Open ones unless `status` says otherwise.",
  },
  since: {
    description: 'From then on, of the time by which the list is ordered; of what is open, of the start.',
  },
  until: { description: 'Before then.' },
  wait: { description: "How long to wait for the end, for example '20s'; 25 s at most." },
  needed: { description: "'true': also counts the open executions that have each agent in their plan." },
  step: { description: 'Only this step, also what would be left out of an answer that is too large.' },
};

/** One line for each operation and each schema: a diff then shows what changed, without 100 KB of blanks. */
const lined = (value: unknown, depth: number): string =>
  depth === 0 || typeof value !== 'object' || value === null || Array.isArray(value)
    ? JSON.stringify(value)
    : `{\n${Object.entries(value)
        .map(([key, one]) => `${JSON.stringify(key)}: ${lined(one, depth - 1)}`)
        .join(',\n')}\n}`;

const IN_ORDER = Object.keys(CALLS) as Route[];

export function printOpenapi(): string {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of IN_ORDER) {
    const [method = '', path = ''] = route.split(' ');
    (paths[path] ??= {})[method.toLowerCase()] = operationOf(route);
  }
  const contract = {
    openapi: '3.1.0',
    info: {
      title: 'Steadfast',
      version: packageVersion(),
      description:
        'Starts and operates executions of workflows. Times are epoch ms. Answers may gain fields: ignore what you do not know.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'Where this document is served.' }],
    security: [{ signature: [] }, { token: [] }, {}],
    paths,
    components: {
      securitySchemes: SECURITY,
      responses: {
        Gateway: {
          description: 'Of the gateway, before the API was asked: 401, 403, 429, 500, 503.',
          content: contentOf({ type: 'object', properties: { message: { type: 'string' } } }),
        },
      },
      schemas: { ...answerSchemas(), ...bodySchemas(), Openapi: OPENAPI, Error: ERROR },
    },
  };
  return `${lined(contract, 3)}\n`;
}

const SECURITY = {
  signature: {
    type: 'apiKey',
    in: 'header',
    name: 'Authorization',
    description: "AWS Signature Version 4 for the service 'execute-api': the default of a deployed API.",
  },
  token: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'Of an API with an authorizer of tokens. The API of a laptop asks for nothing.',
  },
};

const OPENAPI: Schema = {
  type: 'object',
  required: ['openapi'],
  properties: { openapi: { type: 'string', const: '3.1.0' } },
};

const ERROR: Schema = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message'],
      properties: {
        code: {
          description: 'For programs.',
          oneOf: Object.entries(ERRORS).map(([code, { means, next }]) => ({
            const: code,
            description: `${means} ${next}`,
          })),
        },
        message: { description: 'For people: what was wrong, what is allowed.', type: 'string' },
        details: { description: 'Of some codes.' },
      },
    },
  },
};

const contentOf = (schema: Schema, example?: unknown): object => ({
  'application/json': { schema, ...(example === undefined ? {} : { example }) },
});

/** The error codes of a route, by status. */
function codesOf(route: Route, { errors }: DescribedRoute): ReadonlyMap<number, readonly ErrorCode[]> {
  const all = [...errors, ...ERRORS_OF_ALL, ...(route.startsWith('GET ') ? [] : ERRORS_OF_WRITES)];
  const statuses = [...new Set(all.map((code) => STATUS[code]))].sort((a, b) => a - b);
  return new Map(statuses.map((status) => [status, all.filter((code) => STATUS[code] === status)]));
}

function operationOf(route: Route): object {
  const { takes } = ROUTES[route];
  const { summary, body } = DESCRIBED[route];
  return {
    operationId: CALLS[route].name,
    summary,
    parameters: parametersOf(route),
    ...(body === undefined || takes === undefined
      ? {}
      : {
          requestBody: {
            required: !z.safeParse(takes, {}).success,
            content: contentOf(refOf(body), EXAMPLES[route].body),
          },
        }),
    responses: responsesOf(route, DESCRIBED[route]),
  };
}

function parametersOf(route: Route): object[] {
  const { takes } = ROUTES[route];
  const inPath = [...route.matchAll(/\{(\w+)\}/g)].map(([, one = '']) => parameter('path', one, {}));
  const { properties = {} } = takes !== undefined && route.startsWith('GET ') ? requestSchema(takes) : {};
  const inQuery = Object.entries(properties).map(([one, schema]) => parameter('query', one, schema));
  const key = {
    in: 'header',
    name: 'Idempotency-Key',
    description: 'As `idempotencyKey` in the body, which counts if both are given.',
    schema: { type: 'string', minLength: 1, maxLength: 200 },
  };
  return [...inPath, ...inQuery, ...(CALLS[route].name === 'start' ? [key] : [])];
}

function parameter(place: 'path' | 'query', name: string, schema: Schema): object {
  const { description = '', ...known } = PARAMETERS[name] ?? {};
  return {
    in: place,
    name,
    description,
    ...(place === 'path' ? { required: true } : {}),
    schema: Object.keys(known).length === 0 ? schema : known,
  };
}

function responsesOf(route: Route, described: DescribedRoute): object {
  const { answers } = described;
  const codes = codesOf(route, described);
  const [first] = Object.keys(answers);
  const statuses = [...new Set([...Object.keys(answers), ...[...codes.keys()].map(String)])].sort();
  const responses = statuses.map((status) => {
    const answer = answers[Number(status)];
    const refused = codes.get(Number(status)) ?? [];
    const shapes = [
      ...(answer === undefined ? [] : [refOf(answer)]),
      ...(refused.length === 0 ? [] : [refOf('Error')]),
    ];
    const [only = {}] = shapes;
    const schema = shapes.length > 1 ? { anyOf: shapes } : only;
    const said = [...(answer === undefined ? [] : ['the answer']), ...refused.map((code) => `\`${code}\``)];
    const shown = status === first ? EXAMPLES[route].answer : undefined;
    return [status, { description: said.join(', '), content: contentOf(schema, shown) }];
  });
  return { ...Object.fromEntries(responses), default: { $ref: '#/components/responses/Gateway' } };
}

function answerSchemas(): Readonly<Record<string, Schema>> {
  const names = IN_ORDER.flatMap((route) => Object.values(DESCRIBED[route].answers));
  return typeSchemas([...new Set(names)].filter((name) => name !== 'Openapi'));
}

function bodySchemas(): Readonly<Record<string, Schema>> {
  const bodies = IN_ORDER.flatMap((route): [string, Schema][] => {
    const { takes } = ROUTES[route];
    const { body } = DESCRIBED[route];
    return takes === undefined || body === undefined
      ? []
      : [[body, withComments(body, requestSchema(takes))]];
  });
  return Object.fromEntries(bodies);
}
