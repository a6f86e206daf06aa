/**
 * Prints docs/HTTP.md from the table of routes, the errors and the limits in lib/api.
 *
 * Owns: the page and its prose. Does not own: the facts (`contract/routes.ts`, `contract/errors.ts`).
 */

import { CALLS, kindOf, type Route } from '../lib/api/calls.ts';
import { ERRORS } from './contract/errors.ts';
import { ERRORS_OF_ALL } from './contract/routes.ts';
import { MAX_WAIT_MS } from '../lib/api/requests.ts';
import { type ErrorCode, STATUS } from '../lib/api/statuses.ts';
import { MAX_REMEMBERED, REMEMBERED_DAYS } from '../lib/core/operators/obey.ts';
import { formatDuration } from '../lib/core/values/duration.ts';
import { DEFAULT_MOST_WAITS } from '../lib/core/records/open-waits.ts';

const INTRODUCTION = `# HTTP

Printed from \`lib/api\` by \`npm run docs\`; do not edit. The reference is OpenAPI 3.1: [openapi.json](openapi.json), and
\`GET /openapi.json\` of every API. It has each route with its fields, answers, an example and its errors. In TypeScript,
\`steadfast/client\` makes these calls ([FIRST-PROJECT.md](FIRST-PROJECT.md#from-an-application)).

Bodies and answers are JSON in UTF-8. Times are epoch milliseconds. Answers may gain fields in a release: ignore those you do not
know. Bodies and queries with unknown fields are refused. A laptop's API is at \`http://127.0.0.1:4510\` (\`npx steadfast dev\`); a
deployed one is the output \`ApiUrl\` of its stack.

## Who calls

A deployed API asks for a signature (AWS Signature Version 4, service \`execute-api\`), and IAM says who may call what:

\`\`\`sh
curl --aws-sigv4 "aws:amz:eu-central-1:execute-api" --user "$AWS_ACCESS_KEY_ID:$AWS_SECRET_ACCESS_KEY" \\
  -H "x-amz-security-token: $AWS_SESSION_TOKEN" "$API/health"
\`\`\`

With an authorizer of tokens (JWT), send \`Authorization: Bearer …\`; each route needs a scope
([SECURITY.md](SECURITY.md#access-to-the-api)). With \`callbackAuthorizer: new HttpNoneAuthorizer()\` the token in a callback's path
is enough. A laptop's API asks for nothing; its header \`x-local-user\` names the caller, and every other API refuses it.

## Calling again

A call that got no answer may have been obeyed. Make it again under the same key:

- *A start* takes \`idempotencyKey\` in its body, or the header \`Idempotency-Key\` (1 to 200 characters, in quotes or not). The same key and body give
  the same execution until it is removed after its retention; another body is refused (\`key-reused\`). Each workflow has its own keys.
  Without a key every call starts an execution.
- *Commands* (cancel, pause, resume, retry) take \`commandId\`: repeated under its id, a command is obeyed once;
  another one, or other content, is refused (\`key-reused\`). An execution remembers ${MAX_REMEMBERED} for ${REMEMBERED_DAYS} days.
- *A message* takes \`id\`: repeated under its id it counts once, for 30 days after it was taken at least, and is answered as
  the first was. Without an id every call sends another message; the client gives each call one of its own.
- *Answers to callbacks* get the same answer again. *A resolution* repeated is refused (\`already-resolved\`) and changes nothing.

## Waiting

\`GET /executions/{id}?wait=20s\` answers when the execution ends, or after that time (${formatDuration(MAX_WAIT_MS)} at most) with the
status of that moment: call it again until the status is an end. ${DEFAULT_MOST_WAITS} callers may wait at a time; the next is answered at once.
\`POST /workflows/{name}/runs\` starts and waits in one call (\`wait\` in its body). Who may start may not read, so it needs
a permission of its own.

\`\`\`sh
curl "$API/workflows/greeting/executions" -H 'Idempotency-Key: order-1' -d '{"input":{"name":"Ada"}}'
curl "$API/executions/$ID?wait=20s"
\`\`\``;

const CORS = `## From a browser

A page of another origin may call a deployed API if \`cors\` of its stack says so ([how](FIRST-PROJECT.md#from-a-browser)), and allows
the headers \`authorization\`, \`content-type\`, \`idempotency-key\`, and for signatures \`x-amz-date\`, \`x-amz-security-token\`.
Then the API has an open route for \`OPTIONS\` ([what it answers](SECURITY.md#access-to-the-api)). A laptop's API obeys the same
settings: a page of an origin that \`cors\` does not name may start and change nothing there (403). One origin for page and API, as
behind CloudFront, needs no \`cors\`.`;

export function printHttp(): string {
  return `${[INTRODUCTION, errors(), CORS, routes()].join('\n\n')}\n`;
}

const inCode = (text: string): string => `\`${text}\``;
const codesText = (codes: readonly ErrorCode[]): string => codes.map(inCode).join(', ');

/** The advice for a caller after an error, by the error's status. */
const ADVICE: Readonly<Record<(typeof STATUS)[ErrorCode], string>> = {
  400: 'Correct what `details.issues`, or the message, names.',
  403: 'Call as the message says: as another person, as a caller that the gateway knows, or under a shorter name.',
  404: 'Check the name; the message, or a list, has those that exist.',
  409: 'The state does not allow it now. Read the message, then the execution; do not repeat the call as it is.',
  413: 'Store what is large elsewhere, and send where it is.',
  429: 'Read the message: call again in a moment under the same id (`busy`), once messages are taken, or cancel the execution and find who sends so many commands.',
  500: 'Call again with the same key. The log of the API says what happened.',
  503: 'Call again later, with the same key: the deployment is at rest, the disk of `serve` is full, or, during a deployment, a function met a table of another form.',
};

function errors(): string {
  const codes = Object.keys(ERRORS) as ErrorCode[];
  const statuses = [...new Set(codes.map((code) => STATUS[code]))].sort((a, b) => a - b);
  const rows = statuses.map((status) => {
    const refused = codes.filter((code) => STATUS[code] === status);
    return `- ${status} ${codesText(refused)}. ${ADVICE[status]}`;
  });
  return `## Errors

\`{"error": {"code": "unknown-execution", "message": "there is no execution 'e1'"}}\`: \`code\` is for programs, \`message\` for people, and
some codes have \`details\`. Never a stack, never a payload. Every route may answer ${codesText(ERRORS_OF_ALL)}. What each code means
and what to do is in \`Error\` of openapi.json; by status:

${rows.join('\n')}

The gateway answers for itself, with \`{"message": "…"}\` and no \`error\`: 401 (no valid token), 403 (not allowed), 429 (too many
calls), 500 and 503 (no answer in time). After 429, 500 and 503 wait, then call again under the same key. Sizes and counts:
[LIMITS.md](LIMITS.md#a-request).`;
}

function routes(): string {
  const known = Object.keys(CALLS) as Route[];
  const scopes = [...new Set(known.map(kindOf))];
  const rows = scopes.map((scope) => {
    const of = known.filter((route) => kindOf(route) === scope);
    return `- Scope ${inCode(`steadfast/${scope}`)}: ${of.map(inCode).join(', ')}.`;
  });
  return `## Routes\n\n${rows.join('\n')}`;
}
