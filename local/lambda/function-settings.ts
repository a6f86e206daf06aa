/**
 * Makes a function's environment: the template's variables, Lambda's own, and the address of the local
 * gateway.
 */
import type { Assembly } from '../template/assembly.ts';
import type { FunctionSpec } from '../template/stack-model.ts';
import { codeDirectory } from './code.ts';
import type { FunctionSettings } from './local-function.ts';

export interface Surroundings {
  readonly gatewayUrl: string;
  readonly region: string;
  /** Added to every function's environment; overrides the template. */
  readonly environment: Readonly<Record<string, string>>;
  readonly concurrency: number;
  readonly codeRoot: string;
}

/** The settings of a function from its description. */
export function functionSettings(
  spec: FunctionSpec,
  assembly: Assembly,
  around: Surroundings,
): Pick<FunctionSettings, 'spec' | 'directory' | 'environment' | 'maxProcesses'> {
  const directory = codeDirectory(spec, assembly, around.codeRoot);
  return {
    spec,
    directory,
    maxProcesses: Math.max(1, spec.reservedConcurrency ?? around.concurrency),
    environment: {
      ...spec.environment,
      ...around.environment,
      // Lambda sets this variable for the function's logger. Without a level, all lines are shown here.
      ...(spec.logLevel === undefined ? {} : { AWS_LAMBDA_LOG_LEVEL: spec.logLevel }),
      AWS_LAMBDA_FUNCTION_NAME: spec.functionName,
      AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
      AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(spec.memoryMb),
      AWS_LAMBDA_LOG_GROUP_NAME: spec.logGroupName,
      AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
      AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
      AWS_REGION: around.region,
      AWS_DEFAULT_REGION: around.region,
      AWS_ENDPOINT_URL: around.gatewayUrl,
      AWS_SECRET_ACCESS_KEY: 'local',
      LAMBDA_TASK_ROOT: directory,
      _HANDLER: spec.handler,
    },
  };
}
