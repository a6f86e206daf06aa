/**
 * The entrance for third parties: one route without an authorizer, and the function behind it, which checks
 * signatures.
 *
 * Owns: the route and its throttle, the function's permissions. Does not own: the check of a request
 * (`webhooks/receive.ts`), the queue of each webhook and the consequences of a message (`start-queue.ts`).
 *
 * Both exist only if a webhook is declared. The function may read the declared secrets and send to the queues
 * of webhooks, and nothing else. It is a separate function so that it needs no access to the table.
 */

import { type CfnStage, HttpMethod, HttpNoneAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import type { Function } from 'aws-cdk-lib/aws-lambda';
import { Duration, Validations } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { ENV } from '../aws/names.ts';
import type { CodeSource } from './code-source.ts';
import { type FoundTrigger, hasWebhook } from './discovery.ts';
import { webhookName } from './event-shapes.ts';
import { addFunction, type SharedSettings } from './function.ts';
import { grantSecret } from './grant-secret.ts';
import type { Gateway, SchedulerApi } from './scheduler-api.ts';
import type { Triggers } from './triggers.ts';

/** One route for all names, so that an unknown name is answered like a known one. */
const PATH = '/webhooks/{proxy+}';
/** The most requests a second of all senders together. A sender repeats a request that got 429. */
const THROTTLE = { ThrottlingRateLimit: 50, ThrottlingBurstLimit: 100 };
const TIMEOUT = Duration.seconds(10);

/** Webhooks get only the deployment's name from the environment. */
export interface WebhooksProps extends SharedSettings {
  readonly found: readonly FoundTrigger[];
  readonly code: CodeSource['code'];
}

/** The parts of a deployment that this one needs. */
interface Whole extends Construct {
  readonly triggers: Triggers;
  readonly scheduler: SchedulerApi;
}

/** Adds the route and its function if a webhook is declared. */
export const addWebhooks = (whole: Whole, props: WebhooksProps): Webhooks | undefined =>
  hasWebhook(props.found) ? new Webhooks(whole, 'Webhooks', props) : undefined;

/** The function that takes signed requests. */
export class Webhooks extends Construct {
  readonly function: Function;

  /** @throws Error if there is no API, or if no setting names the place of a secret */
  constructor(scope: Whole, id: string, { found, code, environment, ...shared }: WebhooksProps) {
    super(scope, id);
    const { triggers, scheduler } = scope;
    const { gateway } = scheduler;
    if (gateway === undefined)
      throw new Error("a webhook needs an address, and with api: 'none' there is none: leave api out");
    const webhooks = found.flatMap(({ trigger }) =>
      trigger.on === 'webhook' ? [{ name: webhookName(trigger), verify: trigger.options.verify }] : [],
    );
    const queues = webhooks.map(({ name }) => `${name}=${triggers.named(name).queue.queueUrl}`);
    this.function = addFunction(this, {
      ...shared,
      description: 'Steadfast webhooks: takes what third parties sign',
      code: code('webhooks', { asset: 'webhooks', file: JSON.stringify(webhooks) }),
      timeout: TIMEOUT,
      environment: {
        [ENV.deployment]: environment[ENV.deployment] ?? '',
        [ENV.webhookQueues]: queues.join(' '),
      },
    });
    for (const { name, verify } of webhooks) {
      triggers.named(name).grantSend(this.function);
      grantSecret(this, this.function, { secret: verify.secret, whose: `trigger '${name}'` });
    }
    this.addRoute(gateway);
  }

  private addRoute({ api, stage }: Gateway): void {
    const integration = new HttpLambdaIntegration('Integration', this.function, { timeout: TIMEOUT });
    const authorizer = new HttpNoneAuthorizer();
    const [route] = api.addRoutes({ path: PATH, methods: [HttpMethod.POST], integration, authorizer });
    if (route === undefined) return;
    Validations.of(route).acknowledge({
      id: 'AwsSolutions-APIG4',
      reason: 'a third party has no identity of this account; the function checks its signature',
    });
    const own = stage.node.defaultChild as CfnStage;
    own.addPropertyOverride('RouteSettings', { [`POST ${PATH}`]: THROTTLE });
    // Needed because a deployment fails if the stage names a route that does not exist yet.
    own.node.addDependency(route);
  }
}
