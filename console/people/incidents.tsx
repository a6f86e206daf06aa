/** Lists the incidents of an execution: open ones with a form to answer, and who answered the others. */

import type { JSX } from 'preact';
import type { ExecutionView } from '../../lib/api/answers.ts';
import { settings } from '../api.ts';
import { executionLink } from '../execution/head.tsx';
import { Clock, Prose, Until } from '../parts/time.tsx';
import { AnswerIncident } from './answer-incident.tsx';
import { resolvedText, whyAsked } from './words.ts';
import { WrongAnswer } from './wrong-answer.tsx';

export function Incidents({ view, done }: { view: ExecutionView; done: () => void }): JSX.Element | null {
  const open = view.incidents.filter(({ closedAt }) => closedAt === undefined);
  const over = view.incidents.filter(({ closedAt }) => closedAt !== undefined);
  if (view.incidents.length === 0) return null;
  return (
    <section aria-labelledby="incidents">
      <h2 id="incidents">Questions to a person</h2>
      {open.map((incident) => (
        <div key={incident.number} class="card question">
          <p>
            <strong>Incident {incident.number}</strong>
            {incident.step === undefined ? null : (
              <>
                {' '}
                at <a href={executionLink(view.executionId, incident.step)}>{incident.step}</a>
              </>
            )}{' '}
            · {whyAsked(incident)}
            <code>{incident.failure.code}</code> <Prose text={incident.failure.message} />
          </p>
          {incident.wrongAnswer === undefined ? null : <WrongAnswer text={incident.wrongAnswer} />}
          <p class="faint">
            Without an answer: <strong>{incident.otherwise}</strong>, <Until at={incident.deadlineAt} />
          </p>
          {settings.readOnly ? null : (
            <AnswerIncident executionId={view.executionId} incident={incident} done={done} />
          )}
        </div>
      ))}
      {over.map((incident) => (
        <p key={incident.number} class="faint">
          Incident {incident.number}
          {incident.step === undefined ? '' : ` at ${incident.step}`}: {resolvedText(incident)}
          {incident.closedAt === undefined ? null : (
            <>
              {' '}
              · <Clock at={incident.closedAt} />
            </>
          )}
        </p>
      ))}
    </section>
  );
}
