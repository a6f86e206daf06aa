/**
 * The outages of an agent's service: of each opening of its breaker when it began, how soon it was noticed,
 * when it ended, what failed and how each unknown outcome was resolved.
 */

import type { JSX } from 'preact';
import type { OutageView } from '../../lib/api/deployment-answers.ts';
import { BECAME, unknownText } from '../../lib/view/deployment.ts';
import { durationText } from '../../lib/view/text.ts';
import { api } from '../api.ts';
import { executionLink } from '../execution/head.tsx';
import { useLive } from '../live.ts';
import { ShortId } from '../parts/copy.tsx';
import { Shown } from '../parts/states.tsx';
import { Status } from '../parts/status.tsx';
import { Clock, clockText, Prose } from '../parts/time.tsx';
import { addressOf } from '../router.ts';

export function OutagesOf({ agent }: { agent: string }): JSX.Element {
  const live = useLive(`outages ${agent}`, () => api.outages(agent));
  return (
    <section aria-labelledby="outages">
      <h2 id="outages">
        Outages of {agent}, latest first{' '}
        <a class="close" href={addressOf(['overview'])}>
          close
        </a>
      </h2>
      <Shown live={live} what={`the outages of ${agent}`}>
        {(outages) =>
          outages.length === 0 ? (
            <p class="faint">No outages: the breaker of this agent has never opened.</p>
          ) : (
            outages.map((outage) => <OutageCard key={outage.openedAt} outage={outage} />)
          )
        }
      </Shown>
    </section>
  );
}

function OutageCard({ outage }: { outage: OutageView }): JSX.Element {
  const { beganAt, openedAt, closedAt, failure, failed, calls } = outage;
  return (
    <article class="card outage" aria-label={`Outage of ${clockText(beganAt)}`}>
      <dl class="facts across">
        <Fact name="began">
          <Clock at={beganAt} />
        </Fact>
        <Fact name="noticed after">{durationText(openedAt - beganAt)}</Fact>
        <Fact name="ended">
          {closedAt === undefined ? <Status tone="failed">not yet</Status> : <Clock at={closedAt} />}
        </Fact>
        {closedAt === undefined ? null : <Fact name="lasted">{durationText(closedAt - beganAt)}</Fact>}
        <Fact name="calls that failed">{failed}</Fact>
        <Fact name="outcome unknown">{unknownText(outage)}</Fact>
      </dl>
      <p>
        <code>{failure.code}</code> <Prose text={failure.message} />
      </p>
      {calls.length === 0 ? null : <Calls calls={calls} />}
      {failed > calls.length ? (
        <p class="faint">{failed - calls.length} more failed; they are not listed.</p>
      ) : null}
    </article>
  );
}

const Fact = ({ name, children }: { name: string; children: JSX.Element | string | number }): JSX.Element => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

const Calls = ({ calls }: { calls: OutageView['calls'] }): JSX.Element => (
  <div class="scroll" tabIndex={0} role="group" aria-label="Calls that failed">
    <table>
      <thead>
        <tr>
          <th scope="col">Execution</th>
          <th scope="col">Step</th>
          <th scope="col">Attempt</th>
          <th scope="col">Result</th>
        </tr>
      </thead>
      <tbody>
        {calls.map(({ executionId, step, attempt, mode, at, unknown, settled = 'open' }) => (
          <tr key={`${executionId} ${step} ${attempt} ${mode} ${at}`}>
            <td>
              <a class="mono" href={executionLink(executionId, step)}>
                <ShortId id={executionId} />
              </a>
            </td>
            <td>{step}</td>
            <td>{attempt}</td>
            <td>
              {unknown === true ? `its outcome was unknown: ${BECAME[settled]}` : 'it certainly failed'}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);
