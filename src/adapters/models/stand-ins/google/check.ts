/** Checks fields, order and thinking of a generateContent request. */
import { isMapping } from '../../../../domain/mapping.js';
import { numberOf, objectOf, objectsIn, stringOf, type Json } from '../wire/json.js';
import type { Judge } from '../wire/rule.js';
import { fields, unknownFields, type Path, type Shape } from '../wire/shape.js';
import type { Family } from './families.js';
import { partsOf } from './request.js';

type Refuse = Judge['refuse'];

const PART: Shape = {
  ...fields('text thought thoughtSignature videoMetadata executableCode codeExecutionResult mediaResolution'),
  inlineData: fields('mimeType data displayName'),
  fileData: fields('mimeType fileUri displayName'),
  functionCall: fields('id name args'),
  functionResponse: { ...fields('id name response willContinue scheduling'), parts: true },
};
const CONTENT: Shape = { role: true, parts: [PART] };

const REQUEST: Shape = {
  ...fields('model safetySettings cachedContent serviceTier store labels'),
  contents: [CONTENT],
  systemInstruction: CONTENT,
  tools: [
    {
      ...fields('googleSearch googleSearchRetrieval codeExecution urlContext computerUse fileSearch googleMaps'),
      functionDeclarations: [
        fields('name description parameters parametersJsonSchema response responseJsonSchema behavior'),
      ],
    },
  ],
  toolConfig: {
    ...fields('retrievalConfig includeServerSideToolInvocations'),
    functionCallingConfig: fields('mode allowedFunctionNames streamFunctionCallArguments'),
  },
  generationConfig: {
    ...fields(
      'stopSequences candidateCount maxOutputTokens temperature topP topK seed presencePenalty frequencyPenalty responseLogprobs logprobs responseMimeType responseSchema responseJsonSchema responseModalities speechConfig imageConfig mediaResolution audioTimestamp enableEnhancedCivicAnswers',
    ),
    thinkingConfig: fields('includeThoughts thinkingBudget thinkingLevel'),
  },
};

export function checkRequest(body: Json, family: Family, { refuse }: Judge): void {
  for (const path of unknownFields(body, REQUEST)) {
    const at = path.length > 1 ? ` at '${snaked(path.slice(0, -1))}'` : '';
    refuse(
      '6.unknown-field',
      `Invalid JSON payload received. Unknown name "${String(path.at(-1))}"${at}: Cannot find field.`,
    );
  }
  checkContents(objectsIn(body['contents']), refuse);
  const config = objectOf(body['generationConfig']);
  const limit = numberOf(config['maxOutputTokens']) ?? 1;
  if (limit < 1 || limit > MAX_OUTPUT)
    refuse(
      '6.max-output',
      `Unable to submit request because it has a maxOutputTokens value of ${limit} but the supported range is from 1 (inclusive) to ${MAX_OUTPUT + 1} (exclusive). Update the value and try again.`,
    );
  if (body['cachedContent'] !== undefined && !family.budget)
    refuse('6.cached-content', 'Explicit caching is not supported for this model.');
  checkThinking(objectOf(config['thinkingConfig']), family, refuse);
}

const MAX_OUTPUT = 65_536;

function checkContents(contents: readonly Json[], refuse: Refuse): void {
  for (const [at, content] of contents.entries()) {
    const { role } = content;
    if (role !== undefined && role !== 'user' && role !== 'model')
      refuse('6.role', 'Please use a valid role: user, model.');
    const parts = partsOf(content);
    if (parts.length === 0) refuse('6.parts-not-empty', '* GenerateContentRequest.contents.parts must not be empty.');
    if (parts.some((part) => Object.keys(part).every((key) => key === 'thoughtSignature' || key === 'thought')))
      refuse(
        '6.parts-not-empty',
        `* GenerateContentRequest.contents[${at}].parts[0].data: required oneof field 'data' must have one initialized field`,
      );
    for (const part of parts) checkResponse(part, at, refuse);
    checkCalls(contents, at, refuse);
  }
  const [first, last] = [contents[0], contents.at(-1)];
  if (first === undefined || first['role'] === 'model' || last?.['role'] === 'model')
    refuse('6.begins-and-ends', 'Please ensure that multiturn requests alternate between user and model.');
}

function checkResponse({ functionResponse }: Json, at: number, refuse: Refuse): void {
  if (isMapping(functionResponse) && !isMapping(functionResponse['response']))
    refuse(
      '6.response-object',
      `Invalid value at 'contents[${at}].parts[0].function_response.response' (type.googleapis.com/google.protobuf.Struct), ${JSON.stringify(functionResponse['response'] ?? null)}`,
    );
}

function checkCalls(contents: readonly Json[], at: number, refuse: Refuse): void {
  const count = (index: number, field: string): number =>
    partsOf(contents[index]).filter((part) => part[field] !== undefined).length;
  const calls = count(at, 'functionCall');
  if (calls > 0 && contents[at - 1]?.['role'] !== 'user')
    refuse(
      '6.call-after-user',
      'Please ensure that function call turn comes immediately after a user turn or after a function response turn.',
    );
  const responses = count(at, 'functionResponse');
  const isOpen = calls > 0 && at < contents.length - 1 && count(at + 1, 'functionResponse') !== calls;
  const isOrphan = responses > 0 && count(at - 1, 'functionCall') !== responses;
  if (isOpen || isOrphan)
    refuse(
      '6.as-many-responses',
      'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.',
    );
}

function checkThinking(config: Json, family: Family, refuse: Refuse): void {
  const { thinkingLevel: level, thinkingBudget } = config;
  const budget = numberOf(thinkingBudget);
  if (budget !== undefined && !family.budget)
    refuse('6.thinking-budget', 'Thinking budget is not supported for this model. Please use thinking level.');
  if (budget !== undefined && level !== undefined)
    refuse('6.thinking-budget', 'You can only set only one of thinking budget and thinking level.');
  if (level !== undefined && !family.levels.includes(stringOf(level).toLowerCase()))
    refuse('6.thinking-level', `Thinking level ${stringOf(level).toUpperCase()} is not supported for this model.`);
}

function snaked(path: Path): string {
  return path
    .map((step) =>
      typeof step === 'number' ? `[${step}]` : `.${step.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`)}`,
    )
    .join('')
    .slice(1);
}
