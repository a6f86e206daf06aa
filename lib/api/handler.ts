/**
 * The Lambda function behind the HTTP API: ports → scheduler → routes.
 *
 * Owns: the composition of this function, apart from the others' (`agent/handler.ts`), because only it needs
 * code for HTTP. Does not own: the routes (`api/routes.ts`), the effect of a start (`scheduler/start.ts`).
 */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { APIGatewayProxyEventV2, APIGatewayProxyResultV2, Context } from 'aws-lambda';
import { handle } from 'hono/aws-lambda';
import type { AllForms } from './deployment-answers.ts';
import { routes } from './routes.ts';
import { metering, once } from '../aws/invocation.ts';
import { ENV, FORMS_FILE, OPENAPI_FILE } from '../aws/names.ts';
import { fromEnvironment, measured, receiptsOf, listingPortsOf, telemetryOf } from '../aws/ports.ts';
import type { Workflow } from '../core/plan/workflow.ts';
import { IDS } from '../scheduler/ids.ts';
import { createScheduler } from '../scheduler/start.ts';

/** Reads a file beside the code. */
const beside = (file: string): Promise<string> =>
  readFile(join(fromEnvironment('LAMBDA_TASK_ROOT'), file), 'utf8');
const openapi = (): Promise<string> => beside(OPENAPI_FILE);
const forms = async (): Promise<AllForms> => JSON.parse(await beside(FORMS_FILE)) as AllForms;

/** Removes the caller from the event if there is no gateway: then the caller has written the event. */
const believed = (event: APIGatewayProxyEventV2): object =>
  process.env[ENV.direct] === undefined
    ? event
    : { ...event, requestContext: { ...event.requestContext, authorizer: undefined } };

export function schedulerHandler(
  workflows: readonly Workflow[],
): (event: APIGatewayProxyEventV2, context: Context) => Promise<APIGatewayProxyResultV2> {
  const telemetry = telemetryOf({ role: 'scheduler' });
  const app = once(() => {
    const ports = listingPortsOf(telemetry);
    const personalRoles = new Set(process.env[ENV.personalRoles]?.split(' '));
    const notifies = process.env[ENV.notifications] !== undefined;
    const scheduler = createScheduler(ports, workflows, IDS, personalRoles, notifies);
    const isAtRest = process.env[ENV.atRest] !== undefined;
    return handle(routes(scheduler, receiptsOf(ports), openapi, forms, measured(), isAtRest));
  });
  return (event, context) =>
    metering(
      telemetry,
      context,
      async () =>
        (await app()(believed(event) as never, context as never)) as unknown as APIGatewayProxyResultV2,
      event.requestContext?.requestId,
    );
}
