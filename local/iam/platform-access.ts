/**
 * Checks the permissions that AWS's own services need: Lambda to assume roles, poll queues and write logs;
 * EventBridge and API Gateway to reach their targets. Does not own: these actions.
 */
import type { RuleSpec } from '../template/routing-model.ts';
import type { FunctionSpec } from '../template/stack-model.ts';
import { TemplateError } from '../template/json.ts';
import type { Access, Denial } from './access.ts';
import type { StackPolicies } from './stack-policies.ts';

export class PlatformAccess {
  readonly #access: Access;
  readonly #arn: (service: string, path: string) => string;

  constructor(access: Access, place: { readonly region: string; readonly accountId: string }) {
    this.#access = access;
    this.#arn = (service, path) => `arn:aws:${service}:${place.region}:${place.accountId}:${path}`;
  }

  /**
   * Requires that each role trusts its service: otherwise AWS would not create the function.
   * @throws TemplateError
   */
  requireTrust(policies: StackPolicies): void {
    for (const { who, service, roleArn } of policies.actors()) {
      const denial = this.#access.check(service, 'sts:AssumeRole', roleArn);
      if (denial !== undefined) throw new TemplateError(`${who}.Properties`, denial.message);
    }
  }

  /** Checks a mapping's calls to its queue by the function's role. */
  mapping(functionId: string, queueArn: string): (action: string) => boolean {
    return (action) => this.#access.check(functionId, action, queueArn) === undefined;
  }

  /** Checks a delivery: a rule needs its target's permission, a schedule that of its own role. */
  rule(rule: RuleSpec, action: string, target: string): boolean {
    const isSchedule = rule.kind === 'schedule';
    const who = isSchedule ? rule.logicalId : 'events.amazonaws.com';
    return isAllowed(this.#access.check(who, action, target, isSchedule ? {} : sourceOf(rule.arn)));
  }

  /** @param source `<api>/<stage>/<method>/<path>` */
  api(functionArn: string, source: string): boolean {
    const context = sourceOf(this.#arn('execute-api', source));
    return isAllowed(
      this.#access.check('apigateway.amazonaws.com', 'lambda:InvokeFunction', functionArn, context),
    );
  }

  /**
   * Whether a caller may use a function URL. It needs two permissions: to invoke the URL, and the function
   * through it.
   */
  functionUrl(caller: string, functionArn: string): boolean {
    const needs = [
      ['lambda:InvokeFunctionUrl', { 'lambda:functionurlauthtype': ['AWS_IAM'] }],
      ['lambda:InvokeFunction', { 'lambda:invokedviafunctionurl': ['true'] }],
    ] as const;
    return needs.every(([action, context]) =>
      isAllowed(this.#access.check(caller, action, functionArn, context)),
    );
  }

  /**
   * Checks that a role may write logs, and for a new process also create its stream. On AWS a line without
   * permission is lost; here the file has it.
   */
  logs({ logicalId, logGroupName }: FunctionSpec, isNewProcess: boolean): void {
    const stream = this.#arn('logs', `log-group:${logGroupName}:log-stream:local`);
    if (isNewProcess) this.#access.check(logicalId, 'logs:CreateLogStream', stream);
    this.#access.check(logicalId, 'logs:PutLogEvents', stream);
  }
}

const isAllowed = (denial: Denial | undefined): boolean => denial === undefined;
const sourceOf = (arn: string): { 'aws:sourcearn': string[] } => ({ 'aws:sourcearn': [arn] });
