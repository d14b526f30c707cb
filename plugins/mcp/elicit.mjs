/**
 * A server asks the person for something in the middle of a call (elicitation). The call stays open
 * in this process; `next` says what to ask, one field at a time, and continues with the answers. In
 * another process the call starts again and the answers so far are given at once.
 */

/** `start(asking)`: begins the call; `asking(params)` resolves to the answer for the server. */
export function runningCall(start) {
  /** How many answers the server has got. */
  let used = 0;
  let form;
  let wake = () => {};
  let outcome;
  const asking = (params) => {
    if (form !== undefined) return { action: 'cancel' }; // one form at a time
    return new Promise((resolve) => {
      form = { fields: fieldsOf(params), content: {}, resolve };
      wake();
    });
  };
  start(asking).then(
    (value) => end({ value }),
    (thrown) => end({ thrown }),
  );

  function end(how) {
    outcome = how;
    wake();
  }

  function close(answer) {
    const { resolve } = form;
    form = undefined;
    resolve(answer);
  }

  return {
    get isAsking() {
      return form !== undefined;
    },
    /** `{value}` or `{thrown}` at its end, `{ask: {question, choices?, default?}}` before that. */
    async next(answers) {
      for (;;) {
        if (outcome !== undefined) return outcome;
        if (form === undefined) {
          await new Promise((resolve) => (wake = resolve));
          continue;
        }
        const field = form.fields[0];
        if (field === undefined) {
          close({ action: 'accept', content: form.content });
          continue;
        }
        if (used >= answers.length) return { ask: field.ask };
        const answer = answers[used++];
        const read = answer === undefined ? { declined: true } : field.read(answer);
        if (read.declined) close({ action: 'decline' });
        else if (read.wrong)
          form.fields[0] = { ...field, ask: { ...field.ask, question: `${read.wrong}\n${field.ask.question}` } };
        else {
          form.fields.shift();
          if (read.value !== undefined) form.content[field.name] = read.value;
        }
      }
    },
  };
}

const YES = 'yes';
const NO = 'no';
const LEFT_OUT = '(leave out)';

/** A form is asked field by field; a request without fields, or to open an address, is one question. */
function fieldsOf({ mode, message, url, requestedSchema }) {
  if (mode === 'url')
    return [agreement(`${message}\nOpen this address in your browser if you trust it, then answer yes:\n${url}`)];
  const { properties = {}, required = [] } = requestedSchema ?? {};
  const names = Object.keys(properties);
  if (names.length === 0) return [agreement(message)];
  return names.map((name, n) => {
    const place = names.length === 1 ? '' : ` (${n + 1} of ${names.length})`;
    return fieldOf(name, properties[name], required.includes(name), `${message}${place}`);
  });
}

function agreement(question) {
  return {
    ask: { question, choices: [YES, NO] },
    read: (answer) => (answer === YES ? {} : { declined: true }),
  };
}

function fieldOf(name, schema, isRequired, message) {
  const { title = name, description, type, default: preset } = schema;
  const question = `${message}\n${title}${description ? `: ${description}` : ''}${isRequired ? '' : ' (may be left out)'}`;
  const options = optionsOf(schema);
  const shown = options.map((option) => option.shown);
  const choices = shown.length > 0 && !isRequired ? [...shown, LEFT_OUT] : shown;
  const preselected =
    options.find(({ value }) => value === preset)?.shown ?? (preset === undefined ? undefined : String(preset));
  return {
    name,
    ask: {
      question,
      ...(choices.length > 0 ? { choices } : {}),
      ...(preselected === undefined ? {} : { default: preselected }),
    },
    read(answer) {
      if (answer === LEFT_OUT) return {};
      if (options.length > 0) {
        const option = options.find((each) => each.shown === answer);
        return option
          ? { value: option.value }
          : { wrong: `${JSON.stringify(answer)} is not one of ${shown.join(', ')}.` };
      }
      if (type === 'array') return { value: answer.split(',').map((each) => each.trim()) };
      if (type !== 'number' && type !== 'integer') return { value: answer };
      const number = Number(answer);
      const isFit = answer.trim() !== '' && Number.isFinite(number) && (type === 'number' || Number.isInteger(number));
      return isFit
        ? { value: number }
        : { wrong: `${JSON.stringify(answer)} is not a ${type === 'integer' ? 'whole ' : ''}number.` };
    },
  };
}

/** The values that a person can choose from; none for an answer in words. */
function optionsOf({ type, enum: values, enumNames, oneOf }) {
  if (type === 'boolean')
    return [
      { shown: YES, value: true },
      { shown: NO, value: false },
    ];
  if (Array.isArray(values)) return values.map((value, n) => ({ shown: String(enumNames?.[n] ?? value), value }));
  if (Array.isArray(oneOf)) return oneOf.map(({ const: value, title }) => ({ shown: String(title ?? value), value }));
  return [];
}
