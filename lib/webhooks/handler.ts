/**
 * The Lambda function behind the route without an authorizer: request → signature → queue.
 *
 * Owns: the composition, and turning API Gateway's event into a request. Does not own: the checks and the
 * answers (`receive.ts`), the effect of a message in the queue (`scheduler/starter-handler.ts`).
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda';
import { metering, once } from '../aws/invocation.ts';
import { ENV, TRIGGER_FILE } from '../aws/names.ts';
import { fromEnvironment, telemetryOf } from '../aws/ports.ts';
import { CLIENT } from '../aws/transport.ts';
import { forget, secretValue } from '../ready/secret.ts';
import { type Receive, receiver, type ReceiverParts, type Webhook, WEBHOOK_PATH } from './receive.ts';

const SECRET_WITHIN_MS = 5_000;

/** The Lambda function of all webhooks of a deployment. */
export function webhooksHandler(): (
  event: APIGatewayProxyEventV2,
  context: Context,
) => Promise<APIGatewayProxyStructuredResultV2> {
  const telemetry = telemetryOf({ role: 'webhooks' });
  const { logger } = telemetry;
  const ready = once((): Receive => {
    const file = join(fromEnvironment('LAMBDA_TASK_ROOT'), TRIGGER_FILE);
    return receiver({
      webhooks: JSON.parse(readFileSync(file, 'utf8')) as Webhook[],
      now: Date.now,
      secretOf: (place, isFresh) => {
        if (isFresh === true) forget(place);
        return secretValue(place, AbortSignal.timeout(SECRET_WITHIN_MS));
      },
      keep: keepingIn(queuesIn(fromEnvironment(ENV.webhookQueues))),
      log: (what, fields) => logger.warn(what, { ...fields }),
    });
  });
  return (event, context) =>
    metering(telemetry, context, () => answered(ready(), event), event.requestContext.requestId);
}

/** `name=url`, with spaces between. */
const queuesIn = (text: string): ReadonlyMap<string, string> =>
  new Map(
    text.split(' ').map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
  );

/** K3: once a message is in its queue, it is kept even if table or starter fail. */
function keepingIn(queues: ReadonlyMap<string, string>): ReceiverParts['keep'] {
  const client = new SQSClient(CLIENT);
  return async ({ name, body, attributes }) => {
    const texts = Object.entries(attributes).map(([key, StringValue]) => [
      key,
      { DataType: 'String', StringValue },
    ]);
    const QueueUrl = queues.get(name);
    const MessageAttributes = Object.fromEntries(texts);
    await client.send(new SendMessageCommand({ QueueUrl, MessageBody: body, MessageAttributes }));
    return undefined;
  };
}

async function answered(
  receive: Receive,
  { headers, pathParameters, body = '', isBase64Encoded, requestContext }: APIGatewayProxyEventV2,
): Promise<APIGatewayProxyStructuredResultV2> {
  const { status, body: text } = await receive({
    method: requestContext.http.method,
    // The path of the event begins with the mapping of a domain, if there is one.
    path: `${WEBHOOK_PATH}/${pathParameters?.['proxy']}`,
    header: (name) => headers[name],
    body: Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8'),
  });
  return { statusCode: status, headers: { 'content-type': 'application/json' }, body: text };
}
