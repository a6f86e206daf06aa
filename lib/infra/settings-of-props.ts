/**
 * Distributes the props of a deployment to its parts.
 *
 * Owns: which part gets which settings, with the defaults that belong to no part, and their refusals (a
 * retention that is too short, an invalid name of a role). Does not own: which settings there are
 * (`steadfast-props.ts`), their effects (`steadfast.ts`).
 */

import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Duration, type RemovalPolicy, Token } from 'aws-cdk-lib/core';
import { defined } from '../core/values/defined.ts';
import { ENV, MIN_RETENTION_HOURS, TRANSPORTS } from '../aws/names.ts';
import type { AuditClockProps } from './audit-clock.ts';
import type { LogSettings } from './function.ts';
import { onceInUse } from './removal.ts';
import type { ApiKind, SchedulerApiProps } from './scheduler-api.ts';
import type { StateTableProps } from './state-table.ts';
import type { SteadfastProps } from './steadfast-props.ts';

/** The settings that are given; the table has defaults for the others. */
export function tableSettings(props: SteadfastProps): Partial<StateTableProps> {
  const { billing, deletionProtection, pointInTimeRecovery, restoredTable, startsPerSecond } = props;
  return defined({ paid: billing, startsPerSecond, deletionProtection, pointInTimeRecovery, restoredTable });
}

export const logSettings = (
  { logRetention, logLevel, systemLogLevel, encryptionKey }: SteadfastProps,
  removalPolicy: RemovalPolicy,
): LogSettings => ({
  retention: logRetention ?? RetentionDays.ONE_MONTH,
  removalPolicy: onceInUse(removalPolicy),
  ...defined({ encryptionKey, level: logLevel, systemLevel: systemLogLevel }),
});

export const auditSettings = ({
  tuning: { auditEvery = Duration.days(1), auditMegabytes = 1_000 } = {},
}: SteadfastProps): Pick<AuditClockProps, 'every' | 'megabytes'> => ({
  every: auditEvery,
  megabytes: auditMegabytes,
});

/** A valid name of a role. */
const ROLE_NAME = /^[\w+=,.@-]{1,64}$/;

/**
 * Variables for the API's function.
 * @throws Error for an invalid name of a role, such as an ARN
 */
export function callerSetting({
  personalRoles = [],
  callbackUrls,
}: Pick<SteadfastProps, 'personalRoles' | 'callbackUrls'>): Readonly<Record<string, string>> {
  const wrong = personalRoles.find((name) => !Token.isUnresolved(name) && !ROLE_NAME.test(name));
  if (wrong !== undefined)
    throw new Error(
      `personalRoles has '${wrong}'; it takes names of roles such as 'Approver', without ARN, path or '*'`,
    );
  return {
    ...(personalRoles.length === 0 ? {} : { [ENV.personalRoles]: personalRoles.join(' ') }),
    ...(callbackUrls === undefined ? {} : { [ENV.notifications]: 'true' }),
  };
}

/** Settings of the API before the function; without an API they are refused. */
const OF_THE_API = [
  'authorizer',
  'scopes',
  'callbackAuthorizer',
  'personalRoles',
  'throttle',
  'cors',
  'domain',
] as const satisfies readonly (keyof SteadfastProps)[];
const API_KINDS: readonly ApiKind[] = ['http', 'none'];

/** @throws Error for an unknown kind, and for settings of an API if there is none */
function checkKind(props: SteadfastProps): void {
  const { api = 'http' } = props;
  if (!API_KINDS.includes(api))
    throw new Error(
      `api is '${String(api)}'; allowed: ${API_KINDS.map((kind) => `'${kind}'`).join(' and ')}`,
    );
  const set = OF_THE_API.filter((name) => props[name] !== undefined);
  if (api === 'none' && set.length > 0)
    throw new Error(
      `${set.join(', ')}: with api: 'none' there is no API to set it of; leave it out, or leave out api`,
    );
}

export function apiSettings(props: SteadfastProps): Partial<SchedulerApiProps> {
  checkKind(props);
  const { api, authorizer, scopes, callbackAuthorizer, throttle, cors, domain, schedulerConcurrency } = props;
  const reservedConcurrency = schedulerConcurrency === 'unreserved' ? undefined : schedulerConcurrency;
  return defined({
    kind: api,
    throttle,
    cors,
    domain,
    reservedConcurrency,
    authorizer,
    scopes,
    callbackAuthorizer,
  });
}

/**
 * Variables for functions; none if the default applies.
 * @throws Error for any other value
 */
export function transportSetting({ tuning = {} }: SteadfastProps): Readonly<Record<string, string>> {
  const { transport } = tuning;
  if (transport === undefined) return {};
  if (TRANSPORTS.includes(transport)) return { [ENV.transport]: transport };
  throw new Error(`transport is '${String(transport)}'; allowed: ${TRANSPORTS.join(' and ')}`);
}

/** @throws Error if it would break the promise of idempotency keys */
export function checkedRetention(retention: Duration): Duration {
  if (retention.toMilliseconds() >= Duration.hours(MIN_RETENTION_HOURS).toMilliseconds()) return retention;
  throw new Error(
    `retention is ${retention.toHumanString()}; allowed: ${MIN_RETENTION_HOURS} hours or more, because an idempotency key is remembered that long`,
  );
}

/** The variable by which the API knows that the deployment is at rest. */
export const restSetting = ({ atRest }: SteadfastProps): Readonly<Record<string, string>> =>
  atRest === true ? { [ENV.atRest]: 'true' } : {};
