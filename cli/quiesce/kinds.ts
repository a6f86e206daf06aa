/**
 * How each kind of part is read, stopped and restored.
 *
 * Owns: the calls for one part. Does not own: how a call is made (`calls.ts`), which parts
 * there are (`aws.ts`), the order.
 *
 * Each reads first and changes only what differs, so that all of it can be done again after a crash.
 */

import type { Kind, Value } from './account.ts';
import { type Answer, type Calls, unlessGone } from '../aws/calls.ts';

export interface KindOfPart {
  /** @returns nothing where it is gone */
  state(calls: Calls, id: string): Promise<Value | undefined>;
  /** @param state as `state` gave it, or 'stopped' */
  set(calls: Calls, id: string, state: Value): Promise<boolean>;
  /** @param state as `state` gave it */
  isStopped(state: Value): boolean;
  runs(calls: Calls, id: string): Promise<boolean>;
}

/** What `set` takes beside former states. */
export const STOPPED = 'stopped';
const isNever = async (): Promise<boolean> => false;

/**
 * A mapping of Lambda, by its UUID; the state is whether it is enabled.
 * https://docs.aws.amazon.com/lambda/latest/api/API_UpdateEventSourceMapping.html: it becomes so by and by.
 */
const mapping: KindOfPart = {
  async state(calls, id) {
    const found = await getMapping(calls, id);
    return found === undefined ? undefined : isEnabled(found);
  },
  async set(calls, id, state) {
    const found = await getMapping(calls, id);
    if (found === undefined) return false;
    const enabled = state === true;
    if (isEnabled(found) === enabled) return true;
    await calls.rest('lambda', 'UpdateEventSourceMapping', 'PUT', mappingPath(id), { Enabled: enabled });
    return true;
  },
  isStopped: (state) => state === false,
  async runs(calls, id) {
    const found = await getMapping(calls, id);
    return found !== undefined && found['State'] !== 'Disabled';
  },
};
const mappingPath = (id: string): string => `/2015-03-31/event-source-mappings/${encodeURIComponent(id)}`;
const getMapping = async (calls: Calls, id: string): Promise<Answer | undefined> => {
  const found = await unlessGone(calls.rest('lambda', 'GetEventSourceMapping', 'GET', mappingPath(id)));
  return found?.['State'] === 'Deleting' ? undefined : found;
};
const isEnabled = ({ State }: Answer): boolean => State !== 'Disabled' && State !== 'Disabling';

/**
 * A rule of EventBridge, by its ARN; the state is its own, `ENABLED` or `DISABLED`.
 * https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_DisableRule.html
 */
const rule: KindOfPart = {
  async state(calls, id) {
    return (await unlessGone(calls.json('events', 'DescribeRule', ruleOf(id))))?.['State'] as
      | Value
      | undefined;
  },
  async set(calls, id, state) {
    const now = await rule.state(calls, id);
    if (now === undefined) return false;
    const wanted = state === STOPPED ? 'DISABLED' : state;
    if (now !== wanted)
      await calls.json('events', wanted === 'DISABLED' ? 'DisableRule' : 'EnableRule', ruleOf(id));
    return true;
  },
  isStopped: (state) => state === 'DISABLED',
  runs: isNever,
};
/**
 * `…:rule/name` on the account's own bus, else `…:rule/bus/name`; a partner's bus has slashes in its name.
 */
function ruleOf(arn: string): { readonly Name: string; readonly EventBusName?: string } {
  const [, path = ''] = arn.split(':rule/');
  const at = path.lastIndexOf('/');
  return at < 0 ? { Name: path } : { Name: path.slice(at + 1), EventBusName: path.slice(0, at) };
}

/**
 * A schedule, as `group/name`; the state is its own, `ENABLED` or `DISABLED`.
 * https://docs.aws.amazon.com/scheduler/latest/UserGuide/managing-schedule-state.html: a
 * change has to repeat all settings.
 */
const schedule: KindOfPart = {
  async state(calls, id) {
    return (await getSchedule(calls, id))?.['State'] as Value | undefined;
  },
  async set(calls, id, state) {
    const found = await getSchedule(calls, id);
    if (found === undefined) return false;
    const State = state === STOPPED ? 'DISABLED' : state;
    if (found['State'] === State) return true;
    const { Arn: _, CreationDate: __, LastModificationDate: ___, Name: ____, ...rest } = found;
    const { name } = scheduleOf(id);
    await calls.rest('scheduler', 'UpdateSchedule', 'PUT', `/schedules/${name}`, { ...rest, State });
    return true;
  },
  isStopped: (state) => state === 'DISABLED',
  runs: isNever,
};
const scheduleOf = (id: string): { readonly group: string; readonly name: string } => {
  const [group = '', name = ''] = id.split('/').map(encodeURIComponent);
  return { group, name };
};
const getSchedule = (calls: Calls, id: string): Promise<Answer | undefined> => {
  const { group, name } = scheduleOf(id);
  return unlessGone(calls.rest('scheduler', 'GetSchedule', 'GET', `/schedules/${name}?groupName=${group}`));
};

const ALL_SUSPENDED = {
  DynamicScalingInSuspended: true,
  DynamicScalingOutSuspended: true,
  ScheduledScalingSuspended: true,
};
/**
 * A service of ECS, by its ARN; the state is how many tasks it should have, and what of its
 * scaling is suspended where it has any.
 * https://docs.aws.amazon.com/autoscaling/application/userguide/application-auto-scaling-suspend-resume-scaling.html:
 * what is suspended leaves the number alone. A task that protects itself ends after its work,
 * so the wait is that of the work.
 */
const service: KindOfPart = {
  async state(calls, id) {
    const found = await getService(calls, id);
    if (found === undefined) return undefined;
    const target = await getTarget(calls, id);
    const scaling = target === undefined ? null : ((target['SuspendedState'] ?? {}) as Value);
    return { desired: Number(found['desiredCount']), scaling };
  },
  async set(calls, id, state) {
    const now = await service.state(calls, id);
    if (now === undefined) return false;
    const wanted =
      state === STOPPED
        ? { desired: 0, scaling: ALL_SUSPENDED }
        : (state as { desired: number; scaling: Value });
    const { scaling } = now as { readonly scaling: Value };
    // Before the number is changed it must be left alone, and after it is right
    // again it may be changed by others.
    if (state === STOPPED && scaling !== null) await setScaling(calls, id, ALL_SUSPENDED);
    const cluster = clusterOf(id);
    await calls.json('ecs', 'UpdateService', { cluster, service: id, desiredCount: wanted.desired });
    if (state !== STOPPED && scaling !== null && wanted.scaling !== null)
      await setScaling(calls, id, { ...NONE_SUSPENDED, ...(wanted.scaling as object) });
    return true;
  },
  isStopped: (state) => Object(state)['desired'] === 0,
  async runs(calls, id) {
    const found = await getService(calls, id);
    return found !== undefined && Number(found['runningCount']) + Number(found['pendingCount']) > 0;
  },
};
const NONE_SUSPENDED = Object.fromEntries(Object.keys(ALL_SUSPENDED).map((key) => [key, false]));
const clusterOf = (arn: string): string => arn.split('/')[1] ?? 'default';
async function getService(calls: Calls, id: string): Promise<Answer | undefined> {
  const asked = calls.json('ecs', 'DescribeServices', { cluster: clusterOf(id), services: [id] });
  const [found] = ((await unlessGone(asked))?.['services'] ?? []) as readonly Answer[];
  return found?.['status'] === 'INACTIVE' ? undefined : found;
}
const TARGET = {
  ServiceNamespace: 'ecs',
  ScalableDimension: 'ecs:service:DesiredCount',
};
const resourceOf = (id: string): string => id.split(':').slice(5).join(':');
async function getTarget(calls: Calls, id: string): Promise<Answer | undefined> {
  const body = { ...TARGET, ResourceIds: [resourceOf(id)] };
  const answer = await calls.json('application-autoscaling', 'DescribeScalableTargets', body);
  return (answer['ScalableTargets'] as readonly Answer[] | undefined)?.[0];
}
const setScaling = (calls: Calls, id: string, SuspendedState: object): Promise<Answer> =>
  calls.json('application-autoscaling', 'RegisterScalableTarget', {
    ...TARGET,
    ResourceId: resourceOf(id),
    SuspendedState,
  });

/**
 * A route of an HTTP API, as `api/stage/route key`; the state is its own settings in the stage, or null
 * without any. With limits of 0 it answers 429 to everybody
 * (https://github.com/pulumi/pulumi-aws/issues/2363), and a client tries again. What a route is given may or
 * may not be taken for all of them, so the others' settings are said again.
 */
const route: KindOfPart = {
  async state(calls, id) {
    const settings = await getSettings(calls, id);
    return settings === undefined ? undefined : (settings[routeOf(id).key] ?? null);
  },
  async set(calls, id, state) {
    const settings = await getSettings(calls, id);
    if (settings === undefined) return false;
    const { stage, key } = routeOf(id);
    const now = settings[key] ?? null;
    // First without any: a limit of 0 that the former settings do not name might stay.
    if (state !== STOPPED && now !== null) {
      const path = `${stage}/routesettings/${encodeURIComponent(key)}`;
      await unlessGone(calls.rest('apigateway', 'DELETE', 'DELETE', path));
    }
    if (state === null) return true;
    const wanted =
      state === STOPPED
        ? { ...(now as object | null), throttlingBurstLimit: 0, throttlingRateLimit: 0 }
        : state;
    await calls.rest('apigateway', 'PATCH', 'PATCH', stage, {
      routeSettings: { ...settings, [key]: wanted },
    });
    return true;
  },
  isStopped: (state) => Object(state)['throttlingRateLimit'] === 0,
  runs: isNever,
};
function routeOf(id: string): { readonly stage: string; readonly key: string } {
  const [api = '', stage = '', ...key] = id.split('/');
  return { stage: stagePath(api, stage), key: key.join('/') };
}
const stagePath = (api: string, stage: string): string =>
  `/v2/apis/${encodeURIComponent(api)}/stages/${encodeURIComponent(stage)}`;
async function getSettings(calls: Calls, id: string): Promise<Readonly<Record<string, Value>> | undefined> {
  const found = await unlessGone(calls.rest('apigateway', 'GET', 'GET', routeOf(id).stage));
  return found === undefined ? undefined : ((found['routeSettings'] ?? {}) as Record<string, Value>);
}

export const KINDS: Readonly<Record<Kind, KindOfPart>> = { mapping, rule, schedule, service, route };
