/**
 * The services that an order needs on AWS besides Steadfast: they charge, reserve, ship and mail.
 *
 * Owns: the function that its agents share, the trial world that a stage deploys, who may call it, and what a
 * stage without it prints and does. Does not own: what that world does
 * (`../order-fulfilment/world-function.ts`).
 */

import { join } from 'node:path';
import { AttributeType, BillingMode, Table } from 'aws-cdk-lib/aws-dynamodb';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  Architecture,
  FunctionUrlAuthType,
  Function as LambdaFunction,
  LoggingFormat,
  Runtime,
} from 'aws-cdk-lib/aws-lambda';
import { NodejsFunction, OutputFormat } from 'aws-cdk-lib/aws-lambda-nodejs';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import { CfnSchedule } from 'aws-cdk-lib/aws-scheduler';
import { Duration, RemovalPolicy, type Stack, Validations } from 'aws-cdk-lib/core';
import type { SteadfastProps, SteadfastStack } from 'steadfast/cdk';
import { TABLE_VARIABLE } from '../world/deployed.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const CALLERS = ['authorise-card', 'charge-card', 'reserve-stock', 'schedule-shipping', 'notify-customer'];
/** The workflow folder of an order. */
const FOLDER = 'order-fulfilment';

/**
 * Lets the agents of an order share a function, if the app has them: they call the same services. Agents of
 * other folders have a function each, and so each is granted only what it needs.
 */
export function hosts(stack: Stack): Pick<SteadfastProps, 'agentSettings'> {
  const only = String(stack.node.tryGetContext('steadfast:only') ?? FOLDER).split(',');
  return only.some((name) => name === FOLDER || name === '*')
    ? { agentSettings: Object.fromEntries(CALLERS.map((name) => [name, { host: 'orders' }])) }
    : {};
}

/**
 * Adds a function with an address that only the example's agents may call, and a table for it. Both are
 * deleted with the stack.
 */
export function addWorld(stack: SteadfastStack): void {
  if (!stack.steadfast.agents.has('charge-card')) return;
  const table = new Table(stack, 'WorldLedger', {
    partitionKey: { name: 'part', type: AttributeType.STRING },
    billingMode: BillingMode.PAY_PER_REQUEST,
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
    timeToLiveAttribute: 'expiresAt',
    removalPolicy: RemovalPolicy.DESTROY,
  });
  const logGroup = new LogGroup(stack, 'WorldLogs', {
    retention: RetentionDays.ONE_WEEK,
    removalPolicy: RemovalPolicy.DESTROY,
  });
  const role = new Role(stack, 'WorldRole', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
  logGroup.grantWrite(role);
  table.grant(role, 'dynamodb:GetItem', 'dynamodb:PutItem');
  const world = new NodejsFunction(stack, 'WorldFunction', {
    description: 'The outside world of the example: payment, warehouse, carrier and mail',
    entry: join(import.meta.dirname, '..', 'order-fulfilment', 'world-function.ts'),
    projectRoot: ROOT,
    depsLockFilePath: join(ROOT, 'package-lock.json'),
    bundling: {
      format: OutputFormat.ESM,
      minify: true,
      mainFields: ['module', 'main'],
      bundleAwsSDK: true,
      banner: REQUIRE,
    },
    runtime: Runtime.NODEJS_24_X,
    architecture: Architecture.ARM_64,
    memorySize: 256,
    timeout: Duration.seconds(10),
    environment: { [TABLE_VARIABLE]: table.tableName },
    loggingFormat: LoggingFormat.JSON,
    logGroup,
    role,
  });
  const { url } = world.addFunctionUrl({ authType: FunctionUrlAuthType.AWS_IAM });
  for (const name of CALLERS) {
    const agent = stack.steadfast.agent(name);
    world.grantInvokeUrl(agent);
    if (!(agent.function instanceof LambdaFunction)) continue;
    agent.function.addEnvironment('WORLD_URL', url);
    agent.function.addEnvironment('WORLD_AUTH', 'iam');
  }
}

/** CommonJS packages inside an ES module still call `require` for Node's own modules. */
const REQUIRE =
  "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);";

/** For a stage that will use your own services: its schedules stay off until you connect them. */
export function withoutWorld(stack: SteadfastStack): void {
  if (!stack.steadfast.agents.has('charge-card')) return;
  for (const node of stack.node.findAll()) if (node instanceof CfnSchedule) node.state = 'DISABLED';
  Validations.of(stack).addWarning(
    'example:noOutsideWorld',
    'this stage brings no outside world: its agents have nobody to call, so every order fails until WORLD_URL of their function says where the services are. Its schedule is off. The stage dev has a world to try it with (examples/order-fulfilment/README.md)',
  );
}
