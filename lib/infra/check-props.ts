/**
 * Refuses parts of a deployment's declaration that would do nothing: settings that do not exist, settings
 * that have no effect beside another one, grants for a workflow that the deployment does not have.
 *
 * Does not own: values that are not allowed (`settings-of-props.ts` and the parts), settings without effect
 * if there is no API (`settings-of-props.ts`), settings of one agent (`agent-settings.ts`).
 */

import { HttpNoneAuthorizer, type IHttpRouteAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2';
import {
  HttpJwtAuthorizer,
  HttpLambdaAuthorizer,
  HttpUserPoolAuthorizer,
} from 'aws-cdk-lib/aws-apigatewayv2-authorizers';
import { Token } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { nearest } from '../core/values/nearest.ts';
import type { FoundWorkflow } from './discovery.ts';
import { checkOptions } from './known-options.ts';
import { SCOPE_OPTIONS } from './scheduler-api.ts';
import { STEADFAST_OPTIONS, type SteadfastProps, TUNING_OPTIONS } from './steadfast-props.ts';

/** @throws Error that names the setting, and what to write instead */
export function checkProps({ node: { id } }: Construct, props: SteadfastProps): void {
  checkOptions(`Steadfast '${id}'`, props, STEADFAST_OPTIONS);
  checkOptions(`tuning of Steadfast '${id}'`, props.tuning, TUNING_OPTIONS);
  checkOptions(`scopes of Steadfast '${id}'`, props.scopes, SCOPE_OPTIONS);
  checkAlarms(props, ['alarmTopic', 'failureAlarmPercent']);
  checkPersons(props);
}

/** @throws Error if these settings concern alarms, and there are none */
export function checkAlarms<Props extends Pick<SteadfastProps, 'monitoring'>>(
  props: Props,
  ofAlarms: readonly (keyof Props & string)[],
): void {
  const set = ofAlarms.filter((name) => props[name] !== undefined);
  if (props.monitoring !== 'none' || set.length === 0) return;
  throw new Error(
    `${set.join(', ')}: with monitoring: 'none' there are no alarms; leave it out, or write monitoring: 'alarms'`,
  );
}

/** Whether callers have no role of IAM. */
const namesNoRole = (authorizer: IHttpRouteAuthorizer | undefined): boolean =>
  [HttpJwtAuthorizer, HttpUserPoolAuthorizer, HttpLambdaAuthorizer, HttpNoneAuthorizer].some(
    (one) => authorizer instanceof one,
  );

function checkPersons({ personalRoles = [], authorizer, callbackAuthorizer }: SteadfastProps): void {
  if (personalRoles.length === 0 || !namesNoRole(authorizer)) return;
  if (callbackAuthorizer !== undefined && !namesNoRole(callbackAuthorizer)) return;
  throw new Error(
    'personalRoles: no caller has a role, because no authorizer is of IAM; leave it out, or give callbackAuthorizer an HttpIamAuthorizer',
  );
}

/**
 * The name of a workflow, or `*` for any letters of one, as a grant takes it.
 * @throws Error that names the workflows that exist
 */
export function grantedWorkflow(name: string, workflows: readonly FoundWorkflow[]): string {
  const names = workflows.map((one) => one.name);
  const fits = new RegExp(`^${name.replaceAll(/[^\w-]/g, (sign) => (sign === '*' ? '.*' : `\\${sign}`))}$`);
  if (name === '*' || Token.isUnresolved(name) || names.some((one) => fits.test(one))) return name;
  const like = nearest(name, names);
  throw new Error(
    `no workflow is named '${name}'${like === undefined ? '' : `; did you mean '${like}'?`} There are ${names.join(', ')}`,
  );
}
