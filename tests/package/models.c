/* A program outside the repository that uses the models: what the installed header and library
 * give, without libassay. */
#include <assay/model.h>
#include <stdio.h>

int main(void)
{
    const assay_model_class *model_class = NULL;
    assay_model *model = NULL;
    assay_error error = {ASSAY_OK, ""};
    assay_tensor input = {NULL, ASSAY_F32, 2, {0}, NULL}, target = {NULL, ASSAY_F32, 0, {0}, NULL};
    assay_tensor output = {NULL, ASSAY_F32, 0, {0}, NULL};
    if (assay_model_find("mlp", &error, &model_class) != ASSAY_OK ||
        assay_model_new(model_class, NULL, 42, &error, &model) != ASSAY_OK ||
        assay_model_example(model, 1, &error, &input, &target) != ASSAY_OK ||
        assay_model_forward(model, &input, 1, &error, &output) != ASSAY_OK ||
        assay_model_save_weights(model, "w.safetensors", &error) != ASSAY_OK ||
        assay_model_load_weights(model, "w.safetensors", &error) != ASSAY_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    printf("models: %d outputs\n", (int)assay_tensor_count(&output));
    assay_model_free(model);
    return 0;
}
