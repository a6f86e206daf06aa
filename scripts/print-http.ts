/**
 * Prints docs/HTTP.md from the table of routes, the errors and the limits in lib/api.
 *
 * Owns: the page and its prose. Does not own: what is described (`lib/api/contract/routes.ts`, `lib/api/contract/errors.ts`).
 */

import { CALLS, type Route } from '../lib/api/calls.ts';
import { ERRORS } from '../lib/api/contract/errors.ts';
import { EXAMPLES } from '../lib/api/contract/examples.ts';
import { type DescribedRoute, ERRORS_OF_ALL, ROUTES } from '../lib/api/contract/routes.ts';
import { MAX_ANSWER_BYTES } from '../lib/api/fitting.ts';
import {
  DEFAULT_LIMIT,
  MAX_BODY_BYTES,
  MAX_LIMIT,
  MAX_PAUSE_MS,
  MAX_TAGS,
  MAX_WAIT_MS,
} from '../lib/api/requests.ts';
import { type ErrorCode, STATUS } from '../lib/api/statuses.ts';
import { formatDuration } from '../lib/core/plan/duration.ts';
import { JSON_LIMITS } from '../lib/core/records/json.ts';
import { MAX_OUTPUT_BYTES } from '../lib/engine/schema.ts';
import { MAX_GIVEN_INPUT_BYTES } from '../lib/scheduler/incidents.ts';
import { jsonSchema, type Schema } from './json-schemas.ts';
import { codesOf, PARAMETERS } from './print-openapi.ts';
import { table } from './print-state-machine.ts';

const INTRODUCTION = `# HTTP

Printed from \`lib/api\` by \`npm run docs\`; do not edit. The same contract as OpenAPI 3.1 is [openapi.json](openapi.json), and
\`GET /openapi.json\` of every API. In TypeScript, \`steadfast/client\` makes these calls
([FIRST-PROJECT.md](FIRST-PROJECT.md#from-an-application)).

Bodies and answers are JSON in UTF-8. Times are epoch milliseconds. Answers may gain fields in a release: ignore those you do not
know. Bodies and queries may have no other fields than those named here. The examples call the API of a laptop (\`npx steadfast dev\`); a
deployed one is the output \`ApiUrl\` of its stack.

## Who calls

A deployed API asks for a signature (AWS Signature Version 4, service \`execute-api\`), and IAM says who may call what:

\`\`\`sh
curl --aws-sigv4 "aws:amz:eu-central-1:execute-api" --user "$AWS_ACCESS_KEY_ID:$AWS_SECRET_ACCESS_KEY" \\
  -H "x-amz-security-token: $AWS_SESSION_TOKEN" "$API/health"
\`\`\`

With an authorizer of tokens (JWT) it asks for one, and each kind of call for a scope
([SECURITY.md](SECURITY.md#access-to-the-api)): \`curl -H "Authorization: Bearer $TOKEN" "$API/health"\`. With \`callbackAuthorizer:
new HttpNoneAuthorizer()\` the token in a callback's path is enough. The API of a laptop asks for nothing; \`x-local-user\` names who
calls there, and is refused by every other API.

Who calls is recorded with starts, commands, resolutions and answers, as the gateway says; no body and no header can say otherwise.

## Calling again

A call that got no answer may have been obeyed. Make it again under the same key:

- *A start* takes \`idempotencyKey\` in its body, or the header \`Idempotency-Key\`: 1 to 200 characters. The same key with the same
  body is the same execution, also after it has ended, until it is removed after its retention; with another body it is refused
  (\`key-reused\`). Keys of different workflows do not meet. Without a key every call starts an execution.
- *Commands* (cancel, pause, resume, retry) take \`commandId\`: repeated under the same one, a command is obeyed once. An execution
  remembers its latest 10.
- *Answers to callbacks* are answered the same again. *A resolution* that is repeated is refused (\`already-resolved\`) and changes
  nothing.
- *What is read* can be read again.`;

const CORS = `## From a browser

A page of another origin may call a deployed API if its stack says so. The headers are those that \`steadfast/client\` sends:

\`\`\`text
new Steadfast(this, 'Steadfast', {
  workflows,
  authorizer: new HttpJwtAuthorizer('Tokens', 'https://login.example', { jwtAudience: ['shop'] }),
  cors: {
    allowOrigins: ['https://shop.example'],
    allowMethods: [CorsHttpMethod.GET, CorsHttpMethod.POST],
    allowHeaders: ['authorization', 'content-type', 'idempotency-key', 'x-amz-date', 'x-amz-security-token'],
  },
});
\`\`\`

A browser asks first whether it may (\`OPTIONS\`) and can give neither signature nor token with that. With \`cors\` the API has one
route for it that is open to everybody, as
[AWS asks for](https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-cors.html) beside \`$default\` and an authorizer
([what it answers](SECURITY.md#access-to-the-api)). The laptop's API obeys the same settings; it asks nobody for
a proof, so a page of elsewhere that \`cors\` does not name may start or change nothing there (403), by no kind of request. One origin for
page and API, as behind CloudFront, needs none.`;

export function printHttp(): string {
  const routes = (Object.keys(CALLS) as Route[]).map((route) => section(route, ROUTES[route]));
  return `${[INTRODUCTION, errors(), limits(), CORS, '## Routes', overview(), ...routes].join('\n\n')}\n`;
}

const inCode = (text: string): string => `\`${text}\``;
const codesText = (codes: readonly ErrorCode[]): string => codes.map(inCode).join(', ');

function errors(): string {
  const rows = Object.entries(ERRORS).map(([code, { means, next }]) => [
    inCode(code),
    String(STATUS[code as ErrorCode]),
    means,
    next,
  ]);
  return `## Errors

\`{"error": {"code": "unknown-execution", "message": "there is no execution 'e1'"}}\`: \`code\` is for programs, \`message\` for people, and
some codes have \`details\`. Never a stack, never a payload. Every route may answer ${codesText(ERRORS_OF_ALL)}; the others are
with each route.

${table(['code', 'status', 'what it means', 'what to do'], rows).join('\n')}

The gateway answers for itself, with \`{"message": "…"}\` and no \`error\`: 401 (no valid token), 403 (not allowed), 429 (too many
calls: wait, then call again under the same key), 500 and 503 (no answer in time: call again under the same key).`;
}

const kb = (bytes: number): string => `${bytes / 1024} KB`;

function limits(): string {
  const rows: readonly (readonly [string, string])[] = [
    ['a body, before it is parsed', kb(MAX_BODY_BYTES)],
    ["a body's JSON", `${JSON_LIMITS.depth} levels, ${JSON_LIMITS.nodes} keys and elements`],
    ['whole numbers', '±9007199254740991; larger ones as text'],
    ['the output of a callback', kb(MAX_OUTPUT_BYTES)],
    ['the input that resolves an incident', kb(MAX_GIVEN_INPUT_BYTES)],
    ['tags', `${MAX_TAGS}; names of 64 characters, texts of 200`],
    ['a page', `${DEFAULT_LIMIT} unless \`limit\` says otherwise, ${MAX_LIMIT} at most`],
    ['`wait`', formatDuration(MAX_WAIT_MS)],
    ['a pause, before a person is asked', formatDuration(MAX_PAUSE_MS)],
    ['an answer', `${MAX_ANSWER_BYTES / 1_000_000} MB; what is left out is named in \`omitted\``],
    ['calls a second', "the account's, unless the stack has `throttle`"],
  ];
  return `## Limits\n\n${table(['of', 'at most'], rows).join('\n')}`;
}

function overview(): string {
  const rows = Object.entries(CALLS).map(([route, call]) => [
    `[${inCode(route)}](#${anchorOf(route)})`,
    inCode(`steadfast/${call}`),
    ROUTES[route as Route].summary,
  ]);
  return table(['route', 'scope', 'what it does'], rows).join('\n');
}

/** As a heading is linked to. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^a-z0-9 -]/g, '')
    .replaceAll(' ', '-');

function section(route: Route, described: DescribedRoute): string {
  const { summary, query, body } = described;
  const codes = [...codesOf(described).values()].flat().filter((code) => !ERRORS_OF_ALL.includes(code));
  return [
    `### ${route}`,
    summary,
    ...fieldsOf('query', query === undefined ? {} : (jsonSchema(query).properties ?? {})),
    ...fieldsOf('body', body === undefined ? {} : (jsonSchema(body.schema).properties ?? {})),
    example(route, described),
    ...(codes.length === 0 ? [] : [`Errors: ${codesText(codes)}.`]),
  ].join('\n\n');
}

/** What a field may be is in openapi.json; here are its names. */
function fieldsOf(place: 'query' | 'body', fields: Readonly<Record<string, Schema>>): string[] {
  const names = Object.keys(fields);
  if (names.length === 0) return [];
  if (place === 'body') return [`Body: ${names.map(inCode).join(', ')}.`];
  return [names.map((name) => `- \`${name}\`: ${PARAMETERS[name]?.description ?? ''}`).join('\n')];
}

function example(route: Route, { answers }: DescribedRoute): string {
  const { path, body, answer } = EXAMPLES[route];
  const [status = ''] = Object.keys(answers);
  const method = route.startsWith('POST ') && body === undefined ? '-X POST ' : '';
  const data = body === undefined ? '' : ` -d '${JSON.stringify(body)}'`;
  const call = `curl ${method}'http://127.0.0.1:4510${path}'${data}`;
  return `\`\`\`sh\n${call}\n\`\`\`\n\n\`${status}\`:\n\n\`\`\`json\n${JSON.stringify(answer, null, 2)}\n\`\`\``;
}
