/**
 * Simulates the person who answers the workflows' questions: about mails that may have been sent, and failed
 * undos.
 *
 * Owns: asking for open incidents, the answer to each, retrying until it is accepted, and the count of
 * questions. Does not own: which answers are safe; an answer that is refused is a finding of the run.
 */

interface Question {
  readonly executionId: string;
  readonly number: number;
  readonly kind: string;
  readonly step?: string;
}

const LOOK_EVERY_MS = 1_000;
const REQUEST_LIMIT_MS = 10_000;
/** After this many refusals of an answer, the cause is not a race with the execution's end. */
const MAX_REFUSALS = 5;

export class Person {
  /** How often each kind of question was answered. */
  readonly answered = new Map<string, number>();
  readonly #refused = new Map<string, number>();
  readonly #apiUrl: string;
  #isStopped = false;

  constructor(apiUrl: string) {
    this.#apiUrl = apiUrl;
  }

  /** Answers questions until it is stopped, retrying while the store is down. */
  async work(): Promise<void> {
    while (!this.#isStopped) {
      await this.#look().catch(() => {});
      await new Promise((next) => setTimeout(next, LOOK_EVERY_MS));
    }
  }

  /** Questions that it could not answer. */
  get problems(): readonly string[] {
    return [...this.#refused].flatMap(([what, times]) => (times < MAX_REFUSALS ? [] : [what]));
  }

  stop(): void {
    this.#isStopped = true;
  }

  async #look(): Promise<void> {
    const { body } = await this.#ask('GET', '/incidents?limit=100');
    for (const question of (body as { readonly items?: readonly Question[] }).items ?? []) {
      await this.#answer(question);
    }
  }

  async #answer({ executionId, number, kind, step = '' }: Question): Promise<void> {
    // A step that may fail goes on without its effect; an undo that failed is tried again.
    const choice = kind === 'undo' ? 'retry' : 'continue';
    const path = `/executions/${executionId}/incidents/${number}/resolve`;
    const { status, body } = await this.#ask('POST', path, { choice });
    if (status < 300) {
      const asked = `${kind} of ${step}: ${choice}`;
      this.answered.set(asked, (this.answered.get(asked) ?? 0) + 1);
    } else if (status < 500) {
      const { error } = body as { readonly error?: { readonly code?: string } };
      const what = `${executionId} asked '${kind}' about '${step}': '${choice}' was answered ${status} ${error?.code}`;
      this.#refused.set(what, (this.#refused.get(what) ?? 0) + 1);
    }
  }

  async #ask(method: string, path: string, body?: unknown): Promise<{ status: number; body: unknown }> {
    const response = await fetch(`${this.#apiUrl}${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(REQUEST_LIMIT_MS),
    });
    return { status: response.status, body: await response.json() };
  }
}
