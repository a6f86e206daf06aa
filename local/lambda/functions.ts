/**
 * Makes the functions of the stack, each with its bundle, environment, log and listeners. Does not own: one
 * function (local-function.ts), the sources of events.
 */
import type { Faults } from '../control/faults.ts';
import type { DataDirectory } from '../data-directory.ts';
import type { PlatformAccess } from '../iam/platform-access.ts';
import type { MetricStore } from '../metrics/metric-store.ts';
import type { PlatformMetrics } from '../metrics/platform-metrics.ts';
import type { Guardian } from '../processes/guardian.ts';
import type { Assembly } from '../template/assembly.ts';
import type { StackModel } from '../template/stack-model.ts';
import { BlankProcesses } from './blank-processes.ts';
import { packagesAbove } from './code.ts';
import { FunctionLogs, type LogLine } from './function-logs.ts';
import { functionSettings } from './function-settings.ts';
import { LocalFunction } from './local-function.ts';

const DEFAULT_CONCURRENCY = 10;
const IDLE_AFTER_MS = 300_000;

interface Needs {
  readonly options: {
    readonly onLog?: (line: LogLine) => void;
    readonly environment?: Readonly<Record<string, string>>;
    readonly concurrencyPerFunction?: number;
    readonly onProblem?: (message: string) => void;
    readonly inspect?: { readonly logicalId: string; readonly port: number };
  };
  readonly undo: (() => Promise<void> | void)[];
  readonly assembly: Assembly;
  readonly data: DataDirectory;
  readonly guardian: Guardian;
  readonly gateway: { readonly url: string };
  readonly model: StackModel;
  readonly platform: PlatformAccess;
  readonly metrics: MetricStore;
}

export function startFunctions(
  needs: Needs,
  region: string,
  faults: Faults,
  measured: PlatformMetrics,
): LocalFunction[] {
  const { options, undo, assembly, data, guardian, gateway, model, platform, metrics } = needs;
  const logs = new FunctionLogs(data.logs, options.onLog);
  undo.push(async () => await logs.close());
  const blanks = new BlankProcesses(guardian);
  undo.push(() => blanks.stop());
  const found = packagesAbove(guardian.codeFolder);
  if (found !== undefined)
    options.onProblem?.(
      `functions find the packages in ${found}, which Lambda does not have: remove it, or set TMPDIR to a folder below none`,
    );
  const extra = {
    gatewayUrl: gateway.url,
    region,
    environment: options.environment ?? {},
    concurrency: options.concurrencyPerFunction ?? DEFAULT_CONCURRENCY,
    codeRoot: guardian.codeFolder,
  };
  return model.functions.map(
    (spec) =>
      new LocalFunction(
        {
          ...functionSettings(spec, assembly, extra),
          ...(options.inspect?.logicalId === spec.logicalId
            ? { inspectPort: options.inspect.port, maxProcesses: 1 }
            : {}),
          idleAfterMs: IDLE_AFTER_MS,
          onLine: (name, pid, stream, line) => {
            logs.write(name, pid, stream, line);
            metrics.line(line);
          },
          onOver: measured.called,
          onDelivered: (local, process) => {
            platform.logs(local.spec, process.invocations === 1);
            faults.delivered(local, process);
          },
        },
        blanks,
      ),
  );
}
