/** The fields of forms: a line of text, JSON, a choice, a tick. Each has a label and shows its mistake. */

import type { Signal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import { useId } from 'preact/hooks';

interface FieldProps {
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly problem?: string | undefined;
}

export function Field({
  label,
  hint,
  problem,
  children,
}: FieldProps & { children: (id: string, about: string) => JSX.Element }): JSX.Element {
  const id = useId();
  return (
    <div class={problem === undefined ? 'field' : 'field wrong'}>
      <label for={id}>{label}</label>
      {children(id, `${id}-about`)}
      <small id={`${id}-about`}>{problem ?? hint}</small>
    </div>
  );
}

type TextProps = FieldProps & {
  /** A signal, or an object like one. */
  readonly text: { value: string };
  readonly required?: boolean;
  readonly placeholder?: string;
};

/** @param offered suggestions; other values may be typed */
export const TextField = ({
  text,
  required,
  placeholder,
  offered = [],
  ...field
}: TextProps & { offered?: readonly string[] }): JSX.Element => (
  <Field {...field}>
    {(id, about) => (
      <>
        <input
          id={id}
          aria-describedby={about}
          type="text"
          autocomplete="off"
          spellcheck={false}
          required={required === true}
          placeholder={placeholder ?? ''}
          list={offered.length === 0 ? undefined : `${id}-offered`}
          value={text.value}
          onInput={(event) => (text.value = event.currentTarget.value)}
        />
        {offered.length === 0 ? null : (
          <datalist id={`${id}-offered`}>
            {offered.map((one) => (
              <option key={one} value={one} />
            ))}
          </datalist>
        )}
      </>
    )}
  </Field>
);

export const JsonField = ({ text, ...field }: TextProps): JSX.Element => (
  <Field {...field}>
    {(id, about) => (
      <textarea
        id={id}
        aria-describedby={about}
        class="json"
        spellcheck={false}
        rows={Math.min(16, Math.max(4, text.value.split('\n').length + 1))}
        value={text.value}
        onInput={(event) => (text.value = event.currentTarget.value)}
      />
    )}
  </Field>
);

export const ChoiceField = ({
  text,
  options,
  ...field
}: TextProps & { options: readonly (readonly [string, string])[] }): JSX.Element => (
  <Field {...field}>
    {(id, about) => (
      <select
        id={id}
        aria-describedby={about}
        value={text.value}
        onChange={(event) => (text.value = event.currentTarget.value)}
      >
        {options.map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
    )}
  </Field>
);

export const TickField = ({ ticked, label }: { ticked: Signal<boolean>; label: string }): JSX.Element => (
  <label class="tick">
    <input
      type="checkbox"
      checked={ticked.value}
      onChange={(event) => (ticked.value = event.currentTarget.checked)}
    />
    {label}
  </label>
);
